# SPDX-License-Identifier: MIT
"""Prints the results of the Alpha counter device: the number of processors, and whether many cycles passed in 20 ms."""
import array
import fcntl
import os
import struct
import time

MUX, FREQ, RESTART, DISABLE, GETCNT = 0x80085029, 0x8008502a, 0x8008502e, 0x8008502b, 0x80085031
LOGALL = 0x20005003
fd = os.open("/dev/pfcntr", 0x10000)
for request, word in (MUX, 0), (FREQ, 0x2a0), (LOGALL, None), (RESTART, 0xff07):
    fcntl.ioctl(fd, request, 0 if word is None else struct.pack("Q", word))
time.sleep(0.02)    # what passes of time is counted
fcntl.ioctl(fd, DISABLE, struct.pack("Q", 0xff07))
room = array.array("Q", [2**64 - 1] * 4 * 65)
fcntl.ioctl(fd, GETCNT, struct.pack("Q", room.buffer_info()[0]))
words = [w for w in room if w != 2**64 - 1]
print(len(words) // 4, "processors,", "many" if sum(words) > 10**8 else "few", "cycles")
