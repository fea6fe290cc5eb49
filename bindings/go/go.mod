// SPDX-License-Identifier: MIT
module perfmon

go 1.18
