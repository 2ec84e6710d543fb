"""Result files of the lab's generators to tables and self-contained HTML pages; standard library only."""
