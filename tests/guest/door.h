/* SPDX-License-Identifier: MIT */
/* Where the mode of an open goes on its way through Linux: see door.c. */
#ifndef PERFMON_GUEST_DOOR_H
#define PERFMON_GUEST_DOOR_H

#define DOOR_SHIFT 5

#endif
