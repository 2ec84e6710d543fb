"""The gain of one build over another of the same server or engine: builds × memory tiers × threads × repetitions."""
