"""What a build gains over another one of the same server or engine: builds × memory tiers × threads × repetitions."""
