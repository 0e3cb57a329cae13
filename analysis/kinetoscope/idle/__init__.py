"""Idle time of devices.

Where it lies (:mod:`~kinetoscope.idle.gaps`), what the host did meanwhile (:mod:`~kinetoscope.idle.host_time`), and what caused each stretch
(:mod:`~kinetoscope.idle.causes`).
"""
