module perfmon

go 1.18
