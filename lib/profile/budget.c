/* SPDX-License-Identifier: MIT */
#include "profile/budget.h"

#include "profile/messages.h"

uint64_t budget_limit(uint64_t size, uint64_t times, uint64_t more)
{
	return size < (UINT64_MAX - more) / times ? times * size + more : UINT64_MAX;
}

static bool report_exceeded(struct budget *b)
{
	if (!b->is_exceeded && b->file)
		show_profile_message(b->messages, "%s of %s are incomplete: the limit is %llu %s",
		                     b->subject, b->file, (unsigned long long)b->limit, b->unit);
	b->is_exceeded = true;
	return false;
}

bool budget_charge(struct budget *b, uint64_t n)
{
	if (n > b->limit - b->spent)
		return report_exceeded(b);
	b->spent += n;
	return true;
}

bool budget_allows(struct budget *b, uint64_t value)
{
	return value <= b->limit || report_exceeded(b);
}
