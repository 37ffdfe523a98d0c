"""Measurements that are no tests: `script/bench NAME` runs one."""
