/* SPDX-License-Identifier: MIT */
/* pfm stat -I --html: the counts of the intervals as a page for browsers. */
#include "html/page.h"
#include "stat/stat.h"

#include <stdlib.h>
#include "common/pfm.h"

void note_interval(struct stat_job *job, double elapsed, double time)
{
	struct stat_report *report = &job->report;
	struct stat_job as_json = *job;

	if (!job->options.html)
		return;
	if (!report->intervals)
		report->intervals = open_memstream(&report->interval_text, &report->interval_size);
	if (!report->intervals)
		return;
	as_json.options.json = true;
	as_json.options.separator = NULL;
	as_json.report.out = report->intervals;
	report_counts(&as_json, elapsed, time);
}

int write_interval_page(struct stat_job *job)
{
	struct stat_report *report = &job->report;
	bool is_kept = report->intervals && fclose(report->intervals) == 0;
	int status = is_kept ? write_lines_page(report->target, "intervals", report->interval_text,
	                                        job->options.html)
	                     : report_no_memory();

	report->intervals = NULL;
	free(report->interval_text);
	return status;
}
