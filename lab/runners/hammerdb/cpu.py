"""CPU time of server and client over the measured time, per new order."""

from lab.base.watched import cpu_s


class CpuMeter:
    """Samples of two processes at numbered moments (seconds of the run)."""

    def __init__(self, server_pid):
        """server_pid: None if the server is not on this machine."""
        self.server_pid = server_pid
        self.first = self.last = None

    def sample(self, second, client_pid):
        both = (second, cpu_s(self.server_pid) if self.server_pid else None, cpu_s(client_pid))
        self.first = self.first or both
        self.last = both

    def row(self, new_orders):
        """The columns of the CSV. new_orders: their number between the first and the last sample."""
        if not self.first or not new_orders or self.first[0] == self.last[0]:
            return {}
        columns = {}
        for index, name in ((1, "server_cpu_ms_per_neword"), (2, "client_cpu_ms_per_neword")):
            if self.first[index] is not None and self.last[index] is not None:
                columns[name] = (self.last[index] - self.first[index]) * 1000 / new_orders
        return columns
