/* SPDX-License-Identifier: MIT */
/* Intel's register layouts for libpfm4's names: each bit of PERFEVTSEL, second words, combinations
 * of masks, boxes of the uncore. */
#include "libpfm4_codes.h"

static void selects_of_cores(void **state)
{
	(void)state;
	word_is("skx::UNHALTED_CORE_CYCLES", K | U, 0x53003c);
	word_is("skx::UNHALTED_CORE_CYCLES", U, 0x51003c);
	word_is("skx::UNHALTED_CORE_CYCLES", K, 0x52003c);
	word_is("skx::UNHALTED_CORE_CYCLES", PFM_PLMH, 0x50003c);
	word_is("skx::UNHALTED_CORE_CYCLES:k", U, 0x52003c); /* named levels replace the defaults */
	word_is("skx::UNHALTED_CORE_CYCLES:k=0", U, 0x50003c);
	refuses("skx::UNHALTED_CORE_CYCLES:e", PFM_ERR_ATTR); /* needs a counter mask */
	word_is("skx::UNHALTED_CORE_CYCLES:e:c=1", U, 0x155003c);
	word_is("skx::UNHALTED_CORE_CYCLES:i", U, 0xd1003c);
	word_is("skx::UNHALTED_CORE_CYCLES:t", U, 0x71003c);
	word_is("skx::UNHALTED_CORE_CYCLES:c=255", U, 0xff51003c);
	word_is("skx::UNHALTED_CORE_CYCLES:c=1:i", U, 0x1d1003c);
	word_is("skx::UNHALTED_CORE_CYCLES:intx", U, 0x10051003c);
	word_is("skx::UNHALTED_CORE_CYCLES:intxcp", U, 0x20051003c);
	refuses("skx::UNHALTED_CORE_CYCLES:c=256", PFM_ERR_ATTR_VAL);
}

static void extra_registers_are_the_second_word(void **state)
{
	struct l4_code c;

	(void)state;
	assert_int_equal(encode("skx::FRONTEND_RETIRED:DSB_MISS", U, &c), PFM_SUCCESS);
	assert_true(c.n_words == 2 && c.words[0] == 0x5101c6 && c.words[1] == 0x11);
	assert_int_equal(encode("skx::OFFCORE_RESPONSE_0:0x3fffffffff", U, &c), PFM_SUCCESS);
	assert_true(c.n_words == 2 && c.words[0] == 0x5101b7 && c.words[1] == 0x3fffffffff);
	refuses("skx::OFFCORE_RESPONSE_0:0x4000000000", PFM_ERR_ATTR);
	assert_int_equal(
		encode("skx::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:ANY_RESPONSE", U, &c),
		PFM_SUCCESS);
	assert_true(c.n_words == 2 && c.words[1] == 0x10003);
	assert_int_equal(encode("skx::MEM_TRANS_RETIRED:LOAD_LATENCY", U, &c), PFM_SUCCESS);
	assert_true(c.n_words == 2 && c.words[0] == 0x5101cd && c.words[1] == 3 &&
	            (c.effective_modifiers >> 6 & 1));
	assert_int_equal(encode("skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=65535", U, &c),
	                 PFM_SUCCESS);
	assert_true(c.words[1] == 65535 && c.modifier_values[6] == 65535);
	refuses("skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=0", PFM_ERR_ATTR_VAL);
	refuses("skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=65536", PFM_ERR_ATTR_VAL);
}

/* Two masks of an event that replace its code by different codes exclude each other: they share a
 * group that allows no combination. Two masks that exclude higher groups share a group if one is a
 * default, and are not both defaults. */
static void no_two_masks(const struct l4_mask *a, const struct l4_mask *b)
{
	const uint32_t both = a->flags & b->flags, one = a->flags | b->flags;

	assert_true(!(both & MASK_OVERRIDES_CODE) || (a->code & 0xff) == (b->code & 0xff) ||
	            (one & MASK_NO_COMBINATION && a->group == b->group));
	assert_false(both & MASK_EXCLUDES_HIGHER_GROUPS && one & MASK_IS_DEFAULT &&
	             (a->group != b->group || both & MASK_IS_DEFAULT));
}

/* Boxes have modifiers 8, 13 and 14, but no event uses them. Events of cores and of Nehalem's
 * uncore require neither a modifier nor a mask of another group, and masks of the latter set no
 * modifier. The encoders do not check for these cases. */
static void refuses_attributes_of_no_event(void **state)
{
	unsigned n = 0, other = 0;

	(void)state;
	for (uint32_t unit = 0; unit < l4_image.pmus.n_elements; unit++)
		for (uint32_t pos = 0; pos < l4_get_event_end(unit); pos++) {
			struct l4_event ev;

			if (!l4_get_event(unit, pos, &ev))
				continue;
			for (unsigned i = 0;
			     i < ev.row->n_masks &&
			     (ev.encoder == L4_ENCODER_CORE || ev.encoder == L4_ENCODER_EP_UNC);
			     i++)
				for (unsigned k = 0; k < i; k++)
					no_two_masks(&l4_get_row_masks(ev.row)[i],
					             &l4_get_row_masks(ev.row)[k]);
			if (ev.encoder == L4_ENCODER_EP_UNC) {
				assert_false(ev.row->modifiers & (1u << 8 | 1u << 13 | 1u << 14));
				n++;
			}
			if (ev.encoder != L4_ENCODER_CORE && ev.encoder != L4_ENCODER_ARCH &&
			    ev.encoder != L4_ENCODER_NHM_UNC)
				continue;
			assert_false(ev.row->required_modifiers);
			for (unsigned i = 0; i < ev.row->n_masks; i++) {
				const struct l4_mask *m = &l4_get_row_masks(ev.row)[i];

				assert_false(
					m->required_modifiers || m->flags & MASK_REQUIRES_GROUP ||
					(ev.encoder == L4_ENCODER_NHM_UNC && m->fixed_modifiers));
			}
			other++;
		}
	assert_true(n > 1000 && other > 1000);
}

/* ---- libpfm4's answers ----------------------------------------------------------------------- */

/* Results of libpfm4 4.13: words or an error, and the attributes of its own string. Together the
 * rows take every branch, give each modifier its least and its largest value, and set each bit that
 * a word can have. */
struct answer {
	int plm;
	const char *text;
	int answer; /* number of words, or an error */
	uint64_t word[4];
	const char *theirs, *ours; /* attributes of libpfm4's string; of ours, which parses
	                              again, if it differs */
};

static const struct answer answers[] = {
	{ U,
	  "bdw::MEM_TRANS_RETIRED:LOAD_LATENCY:LOAD_LATENCY:ldlat=22",
	  2,
	  { 0x5101cd, 0x16 },
	  ":LOAD_LATENCY:k=0:u=1:e=0:i=0:c=0:t=0:ldlat=22:intx=0:intxcp=0",
	  NULL },
	{ U,
	  "bdw_ep::MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD",
	  2,
	  { 0x5101cd, 0x3 },
	  ":LOAD_LATENCY:k=0:u=1:e=0:i=0:c=0:t=0:ldlat=3:intx=0:intxcp=0",
	  NULL },
	{ K | U,
	  "bdw_ep::RESOURCE_STALLS:intx=0:t",
	  1,
	  { 0x7301a2 },
	  ":ANY:k=1:u=1:e=0:i=0:c=0:t=1:intx=0:intxcp=0",
	  NULL },
	{ K,
	  "bdx_unc_cbo3::UNC_C_LLC_VICTIMS:MISS:MISS:NID:nf=255",
	  3,
	  { 0x5037, 0x0, 0xff },
	  ":MISS:NID:e=0:t=0:tf=0:nf=255:cf=0",
	  ":MISS:NID:e=0:t=0:nf=255" },
	{ K | U,
	  "bdx_unc_cbo4::UNC_C_LLC_LOOKUP:STATE_M:DATA_READ:t=1",
	  2,
	  { 0x1000334, 0x100000 },
	  ":DATA_READ:STATE_M:e=0:t=1:tf=0:cf=0",
	  ":DATA_READ:STATE_M:e=0:t=1" },
	{ K,
	  "clx::BR_INST_RETIRED:CONDITIONAL:intxcp",
	  1,
	  { 0x2005201c4 },
	  ":CONDITIONAL:k=1:u=0:e=0:i=0:c=0:t=0:intx=0:intxcp=1",
	  NULL },
	{ U,
	  "clx::MACHINE_CLEARS:COUNT:e:e",
	  1,
	  { 0x15501c3 },
	  ":COUNT:k=0:u=1:e=1:i=0:c=1:t=0:intx=0:intxcp=0",
	  NULL },
	{ K | U, "clx::MEM_TRANS_RETIRED:ldlat=1", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U,
	  "glm::OFFCORE_RESPONSE_0",
	  2,
	  { 0x5101b7, 0x18000 },
	  ":ANY_REQUEST:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0",
	  NULL },
	{ U, "glm::OFFCORE_RESPONSE_0:ANY_RESPONSE:L2_HIT", PFM_ERR_FEATCOMB, { 0 }, NULL, NULL },
	{ U,
	  "glm::OFFCORE_RESPONSE_0:ANY_RESPONSE:L2_MISS_SNP_ANY",
	  PFM_ERR_FEATCOMB,
	  { 0 },
	  NULL,
	  NULL },
	{ U,
	  "glm::OFFCORE_RESPONSE_0:ANY_RESPONSE:PARTIAL_READS:L2_MISS_HITM_OTHER_CORE",
	  PFM_ERR_FEATCOMB,
	  { 0 },
	  NULL,
	  NULL },
	{ U,
	  "glm::OFFCORE_RESPONSE_0:DMND_RFO",
	  2,
	  { 0x5101b7, 0x10002 },
	  ":DMND_RFO:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0",
	  NULL },
	{ U,
	  "glm::OFFCORE_RESPONSE_0:DMND_RFO:L2_HIT",
	  2,
	  { 0x5101b7, 0x3600040002 },
	  ":DMND_RFO:L2_HIT:L2_MISS_SNP_ANY:k=0:u=1:e=0:i=0:c=0",
	  ":DMND_RFO:L2_HIT:k=0:u=1:e=0:i=0:c=0" },
	{ U,
	  "glm::OFFCORE_RESPONSE_0:DMND_RFO:OUTSTANDING",
	  2,
	  { 0x5101b7, 0x4000000002 },
	  ":DMND_RFO:OUTSTANDING:k=0:u=1:e=0:i=0:c=0",
	  NULL },
	{ U,
	  "glm::OFFCORE_RESPONSE_0:L2_HIT:L2_MISS_SNP_NON_DRAM",
	  2,
	  { 0x5101b7, 0x2000048000 },
	  ":ANY_REQUEST:L2_HIT:L2_MISS_SNP_NON_DRAM:k=0:u=1:e=0:i=0:c=0",
	  NULL },
	{ K,
	  "glm::OFFCORE_RESPONSE_0:OUTSTANDING:L2_MISS_HITM_OTHER_CORE",
	  PFM_ERR_FEATCOMB,
	  { 0 },
	  NULL,
	  NULL },
	{ U,
	  "glm::OFFCORE_RESPONSE_0:UC_CODE_READS:OUTSTANDING",
	  2,
	  { 0x5101b7, 0x4000000200 },
	  ":UC_CODE_READS:OUTSTANDING:k=0:u=1:e=0:i=0:c=0",
	  NULL },
	{ U,
	  "hsw::BR_INST_EXEC:ALL_CONDITIONAL:intx",
	  1,
	  { 0x10051c188 },
	  ":ALL_CONDITIONAL:k=0:u=1:e=0:i=0:c=0:t=0:intx=1:intxcp=0",
	  NULL },
	{ U,
	  "hsw::CYCLE_ACTIVITY:CYCLES_L2_PENDING",
	  1,
	  { 0x15101a3 },
	  ":CYCLES_L2_PENDING:k=0:u=1:e=0:i=0:c=1:t=0:intx=0:intxcp=0",
	  NULL },
	{ K,
	  "hswep_unc_cbo10::UNC_C_LLC_VICTIMS:MISS:STATE_S:STATE_M:nf=255",
	  PFM_ERR_ATTR,
	  { 0 },
	  NULL,
	  NULL },
	{ K,
	  "hswep_unc_cbo10::UNC_C_RXR_IPQ_RETRY2:TARGET:TARGET",
	  PFM_ERR_ATTR,
	  { 0 },
	  NULL,
	  NULL },
	{ U,
	  "hswep_unc_cbo13::UNC_C_FAST_ASSERTED:cf=0",
	  2,
	  { 0x80009, 0x0 },
	  ":e=0:t=0:tf=1:cf=0",
	  ":e=0:t=0:cf=0" },
	{ U, "hswep_unc_cbo14::UNC_C_RXR_IRQ_RETRY2:0x10000:t=7", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ K,
	  "hswep_unc_cbo15::UNC_C_TOR_OCCUPANCY:NID_ALL:OPC_PRD:nf=1",
	  3,
	  { 0x4836, 0x0, 0x18700001 },
	  ":NID_ALL:OPC_PRD:e=0:t=0:tf=0:nf=1:isoc=0:nc=0:cf=0",
	  ":NID_ALL:OPC_PRD:e=0:t=0:nf=1" },
	{ U,
	  "hswep_unc_cbo1::UNC_C_RING_SRC_THRTL:cf=63",
	  2,
	  { 0x80007, 0x3e },
	  ":e=0:t=0:tf=1:cf=31",
	  ":e=0:t=0:cf=31" },
	{ U,
	  "hswep_unc_cbo1::UNC_C_TOR_INSERTS:OPC_PF_DATA:MISS_LOCAL_OPCODE:cf=8",
	  3,
	  { 0x82335, 0x10, 0x19200000 },
	  ":MISS_LOCAL_OPCODE:OPC_PF_DATA:e=0:t=0:tf=1:isoc=0:nc=0:cf=8",
	  ":MISS_LOCAL_OPCODE:OPC_PF_DATA:e=0:t=0:cf=8" },
	{ K, "hswep_unc_cbo6::UNC_C_CLOCKTICKS:0xff", 1, { 0xff00 }, ":0xff", NULL },
	{ U,
	  "hswep_unc_cbo8::UNC_C_LLC_LOOKUP",
	  2,
	  { 0x1134, 0xfe0000 },
	  ":ANY:STATE_MESIFD:e=0:t=0:tf=0:cf=0",
	  ":ANY:STATE_MESIFD:e=0:t=0" },
	{ K,
	  "hswep_unc_cbo8::UNC_C_TOR_OCCUPANCY:OPC_PCINSRD:isoc=0",
	  3,
	  { 0x836, 0x0, 0x1e400000 },
	  ":ALL:OPC_PCINSRD:e=0:t=0:tf=0:isoc=0:nc=0:cf=0",
	  ":OPC_PCINSRD:e=0:t=0:isoc=0" },
	{ U, "hswep_unc_imc5::UNC_M_PREEMPTION:0xff", 1, { 0xff08 }, ":0xff:e=0:i=0:t=0", NULL },
	{ K | U,
	  "hswep_unc_imc5::UNC_M_RD_CAS_RANK6:BANKG1",
	  1,
	  { 0x120b6 },
	  ":BANKG1:e=0:i=0:t=0",
	  NULL },
	{ U, "hswep_unc_pcu::UNC_P_DEMOTIONS_CORE15:t=1", 1, { 0x100003f }, ":e=0:i=0:t=1", NULL },
	{ U,
	  "hswep_unc_pcu::UNC_P_FREQ_BAND1_CYCLES:ff=255",
	  2,
	  { 0xc, 0xff00 },
	  ":e=0:i=0:t=0:ff=255",
	  NULL },
	{ K | U,
	  "hswep_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0",
	  1,
	  { 0x4080 },
	  ":CORES_C0:e=0:i=0:t=0",
	  NULL },
	{ U, "hswep_unc_qpi1::UNC_Q_RXL0P_POWER_CYCLES:t=0", 1, { 0x10 }, ":e=0:i=0:t=0", NULL },
	{ U,
	  "hswep_unc_r3qpi1::UNC_R3_VN1_CREDITS_REJECT:NDR:t=255",
	  1,
	  { 0xff000439 },
	  ":NDR:e=0:i=0:t=255",
	  NULL },
	{ U,
	  "icl::ARITH",
	  1,
	  { 0x1510914 },
	  ":DIVIDER_ACTIVE:k=0:u=1:e=0:i=0:c=1:intx=0:intxcp=0",
	  ":k=0:u=1:e=0:i=0:c=1:intx=0:intxcp=0" },
	{ U, "icl::FRONTEND_RETIRED:IDQ_4_BUBBLES:e", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U,
	  "icl::FRONTEND_RETIRED:L1I_MISS:fe_thres=1",
	  2,
	  { 0x5101c6, 0x12 },
	  ":L1I_MISS:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=1",
	  ":L1I_MISS:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0" },
	{ K,
	  "icl::INST_RETIRED:ANY:ANY",
	  1,
	  { 0x520100 },
	  ":ANY:k=1:u=0:e=0:i=0:c=0:intx=0:intxcp=0",
	  NULL },
	{ K,
	  "icl::MEM_TRANS_RETIRED:LOAD_LATENCY:LOAD_LATENCY:ldlat=1",
	  2,
	  { 0x5201cd, 0x1 },
	  ":LOAD_LATENCY:k=1:u=0:e=0:i=0:c=0:ldlat=1:intx=0:intxcp=0",
	  NULL },
	{ K | U,
	  "icl::OFFCORE_RESPONSE_1:HWPF_L2_DATA_RD_L3_HIT_SNOOP_HITM",
	  2,
	  { 0x5301bb, 0x10003c0010 },
	  ":HWPF_L2_DATA_RD_L3_HIT_SNOOP_HITM:k=1:u=1:e=0:i=0:c=0:intx=0:intxcp=0",
	  NULL },
	{ U,
	  "icl::TOPDOWN:SLOTS",
	  1,
	  { 0x510400 },
	  ":SLOTS:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0",
	  NULL },
	{ U, "icl::TOPDOWN:SLOTS:BACKEND_BOUND_SLOTS", PFM_ERR_FEATCOMB, { 0 }, NULL, NULL },
	{ U,
	  "icx::FRONTEND_RETIRED:IDQ_4_BUBBLES:IDQ_4_BUBBLES:fe_thres=9",
	  2,
	  { 0x5101c6, 0x400906 },
	  ":IDQ_4_BUBBLES:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=9",
	  NULL },
	{ U,
	  "icx::FRONTEND_RETIRED:LATENCY_GE_256:k",
	  2,
	  { 0x5201c6, 0x510006 },
	  ":LATENCY_GE_256:k=1:u=0:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=256",
	  NULL },
	{ K | U,
	  "icx::FRONTEND_RETIRED:LATENCY_GE_32:fe_thres=4095:e=0",
	  PFM_ERR_ATTR_SET,
	  { 0 },
	  NULL,
	  NULL },
	{ U, "icx::INST_RETIRED:ANY:ANY:c=4:intx", PFM_ERR_ATTR_SET, { 0 }, NULL, NULL },
	{ U,
	  "ivb_ep::OFFCORE_RESPONSE_0",
	  2,
	  { 0x5101b7, 0x18fff },
	  ":ANY_REQUEST:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0:t=0",
	  ":ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0:t=0" },
	{ U,
	  "ivb_ep::OFFCORE_RESPONSE_1:L3_MISS:LLC_HITM",
	  2,
	  { 0x5101bb, 0x3fffc48fff },
	  ":ANY_REQUEST:LLC_HITM:LLC_MISS_LOCAL:LLC_MISS_REMOTE_DRAM:SNP_ANY:k=0:u=1:e=0:i=0:c=0:t="
	  "0",
	  ":LLC_HITM:LLC_MISS_LOCAL:LLC_MISS_REMOTE_DRAM:k=0:u=1:e=0:i=0:c=0:t=0" },
	{ K,
	  "ivb_unc_cbo2::UNC_CBO_CACHE_LOOKUP:STATE_MESI:c=255",
	  1,
	  { 0xff508f34 },
	  ":STATE_MESI:ANY_FILTER:e=0:i=0:c=255",
	  NULL },
	{ K,
	  "ivb_unc_cbo3::UNC_CBO_CACHE_LOOKUP:c=1",
	  1,
	  { 0x1508f34 },
	  ":STATE_MESI:ANY_FILTER:e=0:i=0:c=1",
	  NULL },
	{ U,
	  "ivbep_unc_cbo11::UNC_C_RXR_IPQ_RETRY:ANY:cf=0",
	  2,
	  { 0x80131, 0x0 },
	  ":ANY:e=0:t=0:tf=1:cf=0",
	  ":ANY:e=0:t=0:cf=0" },
	{ U,
	  "ivbep_unc_cbo14::UNC_C_RXR_IRQ_RETRY:IIO_CREDITS:cf=15",
	  2,
	  { 0x82032, 0xe },
	  ":IIO_CREDITS:e=0:t=0:tf=1:cf=7",
	  ":IIO_CREDITS:e=0:t=0:cf=7" },
	{ K | U,
	  "ivbep_unc_cbo14::UNC_C_TOR_OCCUPANCY:OPC_PCIITOM:nc",
	  3,
	  { 0x836, 0x0, 0x59c00000 },
	  ":ALL:OPC_PCIITOM:e=0:t=0:tf=0:cf=0:isoc=0:nc=1",
	  ":OPC_PCIITOM:e=0:t=0:nc=1" },
	{ K | U, "ivbep_unc_cbo2::UNC_C_CLOCKTICKS", 1, { 0x0 }, "", NULL },
	{ K | U, "ivbep_unc_cbo3::UNC_C_TOR_OCCUPANCY:nf=0", PFM_ERR_ATTR_VAL, { 0 }, NULL, NULL },
	{ U,
	  "ivbep_unc_cbo4::UNC_C_TXR_INSERTS:IV_CACHE:cf=1",
	  2,
	  { 0x80802, 0x2 },
	  ":IV_CACHE:e=0:t=0:tf=1:cf=1",
	  ":IV_CACHE:e=0:t=0:cf=1" },
	{ K | U,
	  "ivbep_unc_cbo5::UNC_C_TOR_INSERTS:isoc",
	  3,
	  { 0x835, 0x0, 0x80000000 },
	  ":ALL:e=0:t=0:tf=0:cf=0:isoc=1:nc=0",
	  ":ALL:e=0:t=0:isoc=1" },
	{ K | U,
	  "ivbep_unc_cbo6::UNC_C_TOR_OCCUPANCY:NID_MISS_ALL:nf=13",
	  3,
	  { 0x4a36, 0x0, 0xd },
	  ":NID_MISS_ALL:e=0:t=0:tf=0:cf=0:nf=13:isoc=0:nc=0",
	  ":NID_MISS_ALL:e=0:t=0:nf=13" },
	{ U,
	  "ivbep_unc_cbo8::UNC_C_TOR_OCCUPANCY:OPC_WCILF:tf=1",
	  3,
	  { 0x80836, 0x1, 0x18c00000 },
	  ":ALL:OPC_WCILF:e=0:t=0:tf=1:cf=0:isoc=0:nc=0",
	  ":OPC_WCILF:e=0:t=0:tf=1" },
	{ K | U,
	  "ivbep_unc_cbo9::UNC_C_TOR_INSERTS:OPC_WCILF:nc=0",
	  3,
	  { 0x835, 0x0, 0x18c00000 },
	  ":ALL:OPC_WCILF:e=0:t=0:tf=0:cf=0:isoc=0:nc=0",
	  ":OPC_WCILF:e=0:t=0:nc=0" },
	{ K | U, "ivbep_unc_ha1::UNC_H_IGR_BL_QPI2", 1, { 0x5a }, ":e=0:t=0", NULL },
	{ U, "ivbep_unc_irp::UNC_I_CLOCKTICKS:e=0", 1, { 0x0 }, ":e=0:t=0", NULL },
	{ U,
	  "ivbep_unc_r2pcie::UNC_R2_TXR_NACK_CW:AD:AD:AD:e",
	  1,
	  { 0x40126 },
	  ":AD:AD:e=1:t=0",
	  ":AD:e=1:t=0" },
	{ U, "knc::DATA_READ_OR_WRITE:u=0", 1, { 0x500028 }, ":k=0:u=0:e=0:i=0:c=0:t=0", NULL },
	{ U,
	  "knl::OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING",
	  2,
	  { 0x5101b7, 0x4000000001 },
	  ":DMND_DATA_RD:OUTSTANDING:k=0:u=1:e=0:i=0:c=0",
	  NULL },
	{ U,
	  "knl::OFFCORE_RESPONSE_0:OUTSTANDING",
	  2,
	  { 0x5101b7, 0x4000008000 },
	  ":ANY_REQUEST:OUTSTANDING:k=0:u=1:e=0:i=0:c=0",
	  NULL },
	{ K | U,
	  "knl::OFFCORE_RESPONSE_1:ANY_REQUEST:NON_DRAM:MCDRAM_NEAR",
	  2,
	  { 0x5302b7, 0x2080228000 },
	  ":ANY_REQUEST:MCDRAM_NEAR:NON_DRAM:k=1:u=1:e=0:i=0:c=0",
	  NULL },
	{ U, "knl::OFFCORE_RESPONSE_1:OUTSTANDING", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U, "nhm::UNHALTED_CORE_CYCLES:t=0", 1, { 0x51003c }, ":k=0:u=1:e=0:i=0:c=0:t=0", NULL },
	{ K | U, "nhm_ex::UNHALTED_REFERENCE_CYCLES:k=0", 1, { 0x500300 }, ":k=0:u=0:t=0", NULL },
	{ U, "nhm_unc::UNC_CLK_UNHALTED", 1, { 0x5000ff }, "", NULL },
	{ U, "nhm_unc::UNC_CLK_UNHALTED:o:i:e:c=1", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U, "nhm_unc::UNC_DRAM_PAGE_MISS:CH1:e", 1, { 0x540262 }, ":CH1:e=1:i=0:c=0:o=0", NULL },
	{ U,
	  "nhm_unc::UNC_DRAM_READ_CAS:CH1:CH2:c=0",
	  1,
	  { 0x501463 },
	  ":CH1:CH2:e=0:i=0:c=0:o=0",
	  NULL },
	{ U,
	  "nhm_unc::UNC_GQ_CYCLES_FULL:PEER_PROBE_TRACKER:READ_TRACKER:e=0",
	  1,
	  { 0x500500 },
	  ":READ_TRACKER:PEER_PROBE_TRACKER:e=0:i=0:c=0:o=0",
	  NULL },
	{ U, "nhm_unc::UNC_QHL_REQUESTS", PFM_ERR_UMASK, { 0 }, NULL, NULL },
	{ U, "nhm_unc::UNC_QHL_TO_QMC_BYPASS:i=0", 1, { 0x500026 }, ":e=0:i=0:c=0:o=0", NULL },
	{ K, "nhm_unc::UNC_QMC_BUSY", PFM_ERR_UMASK, { 0 }, NULL, NULL },
	{ U, "nhm_unc::UNC_QMC_NORMAL_READS", 1, { 0x50072c }, ":ANY:e=0:i=0:c=0:o=0", NULL },
	{ U,
	  "nhm_unc::UNC_QMC_PRIORITY_UPDATES:0xff",
	  1,
	  { 0x50ff31 },
	  ":0xff:e=0:i=0:c=0:o=0",
	  NULL },
	{ K, "nhm_unc::UNC_QMC_WRITES", 1, { 0x50072f }, ":FULL_ANY:e=0:i=0:c=0:o=0", NULL },
	{ U,
	  "nhm_unc::UNC_QMC_WRITES:FULL_CH0",
	  1,
	  { 0x50012f },
	  ":FULL_CH0:e=0:i=0:c=0:o=0",
	  NULL },
	{ U,
	  "nhm_unc::UNC_QMC_WRITES:FULL_CH0:FULL_CH2",
	  1,
	  { 0x50052f },
	  ":FULL_CH0:FULL_CH2:e=0:i=0:c=0:o=0",
	  NULL },
	{ U, "nhm_unc::UNC_QMC_WRITES:FULL_CH0:PARTIAL_CH0", PFM_ERR_FEATCOMB, { 0 }, NULL, NULL },
	{ K,
	  "nhm_unc::UNC_QMC_WRITES:PARTIAL_ANY:PARTIAL_ANY:PARTIAL_CH1",
	  PFM_ERR_FEATCOMB,
	  { 0 },
	  NULL,
	  NULL },
	{ U, "nhm_unc::UNC_SNP_RESP_TO_LOCAL_HOME", PFM_ERR_UMASK, { 0 }, NULL, NULL },
	{ U,
	  "nhm_unc::UNC_SNP_RESP_TO_REMOTE_HOME:S_STATE:FWD_I_STATE:FWD_I_STATE:c=1",
	  1,
	  { 0x1500a07 },
	  ":S_STATE:FWD_I_STATE:e=0:i=0:c=1:o=0",
	  NULL },
	{ U,
	  "skl::IDQ_UOPS_NOT_DELIVERED:0x0:i:intxcp=0",
	  1,
	  { 0xd1009c },
	  ":0x0:k=0:u=1:e=0:i=1:c=0:t=0:intx=0:intxcp=0",
	  NULL },
	{ U,
	  "skx::FRONTEND_RETIRED:DSB_MISS:fe_thres=7",
	  2,
	  { 0x5101c6, 0x11 },
	  ":DSB_MISS:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=7",
	  ":DSB_MISS:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0" },
	{ U,
	  "skx::FRONTEND_RETIRED:IDQ_2_BUBBLES",
	  2,
	  { 0x5101c6, 0x200106 },
	  ":IDQ_2_BUBBLES:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=1",
	  NULL },
	{ U,
	  "skx::FRONTEND_RETIRED:IDQ_2_BUBBLES:fe_thres=7",
	  2,
	  { 0x5101c6, 0x200706 },
	  ":IDQ_2_BUBBLES:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=7",
	  NULL },
	{ U,
	  "skx::FRONTEND_RETIRED:L2_MISS:fe_thres=4095",
	  2,
	  { 0x5101c6, 0x13 },
	  ":L2_MISS:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=4095",
	  ":L2_MISS:k=0:u=1:e=0:i=0:c=0:intx=0:intxcp=0" },
	{ K,
	  "skx::MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD:LATENCY_ABOVE_THRESHOLD:ldlat=65535",
	  2,
	  { 0x5201cd, 0xffff },
	  ":LOAD_LATENCY:k=1:u=0:e=0:i=0:c=0:t=0:ldlat=65535:intx=0:intxcp=0",
	  NULL },
	{ U,
	  "skx::UOPS_EXECUTED:STALL_CYCLES",
	  1,
	  { 0x1d101b1 },
	  ":THREAD:k=0:u=1:e=0:i=1:c=1:t=0:intx=0:intxcp=0",
	  NULL },
	{ U,
	  "skx::UOPS_EXECUTED:STALL_CYCLES:c=1",
	  1,
	  { 0x1d101b1 },
	  ":THREAD:k=0:u=1:e=0:i=1:c=1:t=0:intx=0:intxcp=0",
	  NULL },
	{ U, "skx::UOPS_EXECUTED:STALL_CYCLES:c=2", PFM_ERR_ATTR_SET, { 0 }, NULL, NULL },
	{ U,
	  "skx::UOPS_EXECUTED:STALL_CYCLES:e",
	  1,
	  { 0x1d501b1 },
	  ":THREAD:k=0:u=1:e=1:i=1:c=1:t=0:intx=0:intxcp=0",
	  NULL },
	{ U,
	  "skx::UOPS_EXECUTED:STALL_CYCLES:i",
	  1,
	  { 0x1d101b1 },
	  ":THREAD:k=0:u=1:e=0:i=1:c=1:t=0:intx=0:intxcp=0",
	  NULL },
	{ U, "skx::UOPS_EXECUTED:STALL_CYCLES:i=0", PFM_ERR_ATTR_SET, { 0 }, NULL, NULL },
	{ U,
	  "skx_unc_cha0::UNC_C_AG0_AD_CRD_ACQUIRED:TGR0:TGR5:t=255",
	  1,
	  { 0xff002180 },
	  ":TGR0:TGR5:e=0:i=0:t=255",
	  NULL },
	{ U,
	  "skx_unc_cha0::UNC_C_AG0_AD_CRD_ACQUIRED:TGR0:e:i",
	  1,
	  { 0x840180 },
	  ":TGR0:e=1:i=1:t=0",
	  NULL },
	{ U, "skx_unc_cha0::UNC_C_TOR_INSERTS", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_INSERTS:IA",
	  3,
	  { 0x3135, 0x0, 0x3b },
	  ":IA:e=0:i=0:t=0:isoc=0:nc=0:loc=1:rem=1:lmem=1:rmem=1",
	  ":IA:e=0:i=0:t=0" },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_INSERTS:IA_MISS:IO_HIT",
	  3,
	  { 0x3535, 0x0, 0x3b },
	  ":IA_MISS:IO_HIT:e=0:i=0:t=0:isoc=0:nc=0:loc=1:rem=1:lmem=1:rmem=1",
	  ":IA_MISS:IO_HIT:e=0:i=0:t=0" },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_INSERTS:IPQ:OPC1_SNP_CUR",
	  3,
	  { 0x835, 0x0, 0xc000000 },
	  ":IPQ:OPC1_SNP_CUR:e=0:i=0:t=0:isoc=0:nc=0:loc=0:rem=0:lmem=0:rmem=0",
	  ":IPQ:OPC1_SNP_CUR:e=0:i=0:t=0" },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_INSERTS:IRQ:OPC0_RFO",
	  3,
	  { 0x135, 0x0, 0x40000 },
	  ":IRQ:OPC0_RFO:e=0:i=0:t=0:isoc=0:nc=0:loc=0:rem=0:lmem=0:rmem=0",
	  ":IRQ:OPC0_RFO:e=0:i=0:t=0" },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_INSERTS:IRQ:OPC0_RFO:OPC1_CRD",
	  3,
	  { 0x135, 0x0, 0x100c0000 },
	  ":IRQ:OPC0_RFO:OPC1_CRD:e=0:i=0:t=0:isoc=0:nc=0:loc=0:rem=0:lmem=0:rmem=0",
	  ":IRQ:OPC0_RFO:OPC1_CRD:e=0:i=0:t=0" },
	{ U, "skx_unc_cha0::UNC_C_TOR_INSERTS:OPC0_RFO", PFM_ERR_FEATCOMB, { 0 }, NULL, NULL },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_INSERTS:PRQ:OPC1_RD_CUR:isoc",
	  3,
	  { 0x435, 0x0, 0x84000000 },
	  ":PRQ:OPC1_RD_CUR:e=0:i=0:t=0:isoc=1:nc=0:loc=0:rem=0:lmem=0:rmem=0",
	  ":PRQ:OPC1_RD_CUR:e=0:i=0:t=0:isoc=1" },
	{ U, "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:cf=64", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U, "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:cf=65", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:lmem",
	  3,
	  { 0x3136, 0x0, 0x2 },
	  ":IA:e=0:i=0:t=0:isoc=0:nc=0:loc=1:rem=0:lmem=1:rmem=0",
	  ":IA:e=0:i=0:t=0:lmem=1" },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:loc",
	  3,
	  { 0x3136, 0x0, 0x2 },
	  ":IA:e=0:i=0:t=0:isoc=0:nc=0:loc=1:rem=0:lmem=1:rmem=0",
	  ":IA:e=0:i=0:t=0:loc=1" },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:nc:isoc",
	  3,
	  { 0x3136, 0x0, 0xc0000000 },
	  ":IA:e=0:i=0:t=0:isoc=1:nc=1:loc=0:rem=0:lmem=0:rmem=0",
	  ":IA:e=0:i=0:t=0:isoc=1:nc=1" },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:rem",
	  3,
	  { 0x3136, 0x0, 0x1 },
	  ":IA:e=0:i=0:t=0:isoc=0:nc=0:loc=0:rem=1:lmem=0:rmem=1",
	  ":IA:e=0:i=0:t=0:rem=1" },
	{ U,
	  "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:rmem",
	  3,
	  { 0x3136, 0x0, 0x20 },
	  ":IA:e=0:i=0:t=0:isoc=0:nc=0:loc=0:rem=0:lmem=0:rmem=0",
	  ":IA:e=0:i=0:t=0:rmem=1" },
	{ U, "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:tf=7:cf=63", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U, "skx_unc_cha0::UNC_C_TOR_OCCUPANCY:IA:tf=8", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U,
	  "skx_unc_upi0::UNC_UPI_RXL_BASIC_HDR_MATCH:REQ:dnid=15",
	  2,
	  { 0x805, 0x2f00 },
	  ":REQ:FILT_NONE:e=0:i=0:t=0:dnid=15:rcsnid=0",
	  ":REQ:FILT_NONE:e=0:i=0:t=0:dnid=15" },
	{ U,
	  "skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:REQ:dnid=16",
	  PFM_ERR_ATTR_VAL,
	  { 0 },
	  NULL,
	  NULL },
	{ U,
	  "skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:REQ:rcsnid=15:dnid=1",
	  2,
	  { 0x804, 0x7e100 },
	  ":REQ:FILT_NONE:e=0:i=0:t=0:dnid=1:rcsnid=15",
	  NULL },
	{ U,
	  "skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:REQ:rcsnid=16",
	  PFM_ERR_ATTR_VAL,
	  { 0 },
	  NULL,
	  NULL },
	{ K,
	  "slm::OFFCORE_RESPONSE_0:ANY_RESPONSE:UC_IFETCH",
	  2,
	  { 0x5201b7, 0x10200 },
	  ":UC_IFETCH:ANY_RESPONSE:k=1:u=0:e=0:i=0:c=0",
	  NULL },
	{ K, "snb::MEM_LOAD_UOPS_LLC_MISS_RETIRED", PFM_ERR_UMASK, { 0 }, NULL, NULL },
	{ U,
	  "snb::OFFCORE_RESPONSE_0",
	  2,
	  { 0x5101b7, 0x18fff },
	  ":ANY_REQUEST:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0:t=0",
	  ":ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0:t=0" },
	{ U, "snb::OFFCORE_RESPONSE_0:ANY_RESPONSE:LLC_HITM", PFM_ERR_FEATCOMB, { 0 }, NULL, NULL },
	{ U,
	  "snb::OFFCORE_RESPONSE_0:DMND_DATA_RD",
	  2,
	  { 0x5101b7, 0x10001 },
	  ":DMND_DATA_RD:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0:t=0",
	  NULL },
	{ U,
	  "snb::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE",
	  2,
	  { 0x5101b7, 0x10001 },
	  ":DMND_DATA_RD:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0:t=0",
	  NULL },
	{ U,
	  "snb::OFFCORE_RESPONSE_0:DMND_DATA_RD:LLC_HITM",
	  2,
	  { 0x5101b7, 0x3f80040001 },
	  ":DMND_DATA_RD:LLC_HITM:SNP_ANY:k=0:u=1:e=0:i=0:c=0:t=0",
	  ":DMND_DATA_RD:LLC_HITM:k=0:u=1:e=0:i=0:c=0:t=0" },
	{ U,
	  "snb::OFFCORE_RESPONSE_0:LLC_HITM:SNP_ANY",
	  2,
	  { 0x5101b7, 0x3f80048fff },
	  ":ANY_REQUEST:LLC_HITM:SNP_NONE:SNP_NOT_NEEDED:SNP_MISS:SNP_NO_FWD:SNP_FWD:HITM:NON_DRAM:"
	  "k=0:u=1:e=0:i=0:c=0:t=0",
	  ":LLC_HITM:SNP_NONE:SNP_NOT_NEEDED:SNP_MISS:SNP_NO_FWD:SNP_FWD:HITM:NON_DRAM:k=0:u=1:e=0:"
	  "i=0:c=0:t=0" },
	{ U, "snb::UNHALTED_REFERENCE_CYCLES", 1, { 0x510300 }, ":k=0:u=1:t=0", NULL },
	{ K,
	  "snb_ep::BR_INST_RETIRED",
	  1,
	  { 0x5204c4 },
	  ":ALL_BRANCHES:k=1:u=0:e=0:i=0:c=0:t=0",
	  NULL },
	{ U,
	  "snb_unc_cbo1::UNC_CBO_CACHE_LOOKUP:c=0",
	  1,
	  { 0x508f34 },
	  ":STATE_MESI:ANY_FILTER:e=0:i=0:c=0",
	  NULL },
	{ K,
	  "snb_unc_cbo2::UNC_CBO_CACHE_LOOKUP:ANY_FILTER:i=0",
	  1,
	  { 0x508f34 },
	  ":STATE_MESI:ANY_FILTER:e=0:i=0:c=0",
	  NULL },
	{ U,
	  "snb_unc_cbo3::UNC_CBO_XSNP_RESPONSE:EXTERNAL_FILTER:ANY_SNP:e=0",
	  1,
	  { 0x503f22 },
	  ":ANY_SNP:EXTERNAL_FILTER:e=0:i=0:c=0",
	  NULL },
	{ K,
	  "snbep_unc_cbo1::UNC_C_TOR_OCCUPANCY:OPC_PF_DATA:NID_ALL:nf=1",
	  2,
	  { 0x4836, 0xc9000400 },
	  ":NID_ALL:OPC_PF_DATA:e=0:i=0:t=0:tf=0:cf=0:nf=1",
	  ":NID_ALL:OPC_PF_DATA:e=0:i=0:t=0:nf=1" },
	{ U,
	  "snbep_unc_cbo2::UNC_C_LLC_LOOKUP:WRITE:NID:STATE_F:nf=255",
	  2,
	  { 0x4534, 0x43fc00 },
	  ":WRITE:NID:STATE_F:e=0:i=0:t=0:tf=0:cf=0:nf=255",
	  ":WRITE:NID:STATE_F:e=0:i=0:t=0:nf=255" },
	{ K, "snbep_unc_cbo2::UNC_C_TOR_INSERTS", PFM_ERR_UMASK, { 0 }, NULL, NULL },
	{ U,
	  "snbep_unc_cbo3::UNC_C_TOR_INSERTS:NID_EVICTION:nf=8:cf=0",
	  2,
	  { 0x84435, 0x2000 },
	  ":NID_EVICTION:e=0:i=0:t=0:tf=1:cf=0:nf=8",
	  ":NID_EVICTION:e=0:i=0:t=0:cf=0:nf=8" },
	{ K,
	  "snbep_unc_cbo3::UNC_C_TOR_OCCUPANCY:OPC_PCINSRD:tf=0",
	  2,
	  { 0x80836, 0xf2000000 },
	  ":ALL:OPC_PCINSRD:e=0:i=0:t=0:tf=1:cf=0",
	  ":OPC_PCINSRD:e=0:i=0:t=0:tf=0" },
	{ K,
	  "snbep_unc_cbo5::UNC_C_TOR_OCCUPANCY:OPC_ITOM",
	  2,
	  { 0x836, 0xe4000000 },
	  ":ALL:OPC_ITOM:e=0:i=0:t=0:tf=0:cf=0",
	  ":OPC_ITOM:e=0:i=0:t=0" },
	{ U,
	  "snbep_unc_pcu::UNC_P_FREQ_BAND0_CYCLES:ff=255",
	  2,
	  { 0xb, 0xff },
	  ":e=0:i=0:t=0:ff=255",
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_FREQ_BAND1_CYCLES:ff=255",
	  2,
	  { 0xc, 0xff00 },
	  ":e=0:i=0:t=0:ff=255",
	  NULL },
	{ K,
	  "snbep_unc_pcu::UNC_P_FREQ_BAND1_CYCLES:ff=6",
	  2,
	  { 0xc, 0x600 },
	  ":e=0:i=0:t=0:ff=6",
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_FREQ_BAND2_CYCLES:ff=7",
	  2,
	  { 0xd, 0x70000 },
	  ":e=0:i=0:t=0:ff=7",
	  NULL },
	{ U, "snbep_unc_pcu::UNC_P_FREQ_BAND3_CYCLES", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U, "snbep_unc_pcu::UNC_P_FREQ_BAND3_CYCLES:ff=0", 1, { 0xe }, ":e=0:i=0:t=0:ff=0", NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_FREQ_BAND3_CYCLES:ff=128",
	  2,
	  { 0xe, 0x80000000 },
	  ":e=0:i=0:t=0:ff=128",
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_FREQ_MIN_PERF_P_CYCLES:C6:t=31",
	  1,
	  { 0x1f200302 },
	  ":C6:e=0:i=0:t=31",
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0:i",
	  1,
	  { 0x40004080 },
	  ":CORES_C0:e=0:i=1:t=0",
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C3:e",
	  1,
	  { 0x80008080 },
	  ":CORES_C3:e=1:i=0:t=0",
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C6:t=31",
	  1,
	  { 0x1f00c080 },
	  ":CORES_C6:e=0:i=0:t=31",
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C6:t=32",
	  PFM_ERR_ATTR_VAL,
	  { 0 },
	  NULL,
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_PROCHOT_EXTERNAL_CYCLES:t=0:t=0",
	  1,
	  { 0xa },
	  ":e=0:i=0:t=0",
	  NULL },
	{ U,
	  "snbep_unc_pcu::UNC_P_TOTAL_TRANSITION_CYCLES:t=23:i=0",
	  1,
	  { 0x1720000b },
	  ":e=0:i=0:t=23",
	  NULL },
	{ U, "snbep_unc_r2pcie::UNC_R2_CLOCKTICKS:i", 1, { 0x800001 }, ":e=0:i=1:t=0", NULL },
	{ K,
	  "tmt::OFFCORE_RESPONSE_1:0x0",
	  2,
	  { 0x5202b7, 0x0 },
	  ":0x0:k=1:u=0:e=0:i=0:c=0",
	  NULL },
	{ U, "wsm::OFFCORE_RESPONSE_0:0x10000", PFM_ERR_ATTR, { 0 }, NULL, NULL },
	{ U,
	  "wsm::OFFCORE_RESPONSE_0:0xffff",
	  2,
	  { 0x5101b7, 0xffff },
	  ":0xffff:k=0:u=1:e=0:i=0:c=0:t=0",
	  NULL },
	{ K, "wsm::OFFCORE_RESPONSE_1:0xffff:c=256", PFM_ERR_ATTR_VAL, { 0 }, NULL, NULL },
	{ K | U, "wsm_dp::L2_LINES_IN:u", 1, { 0x5107f1 }, ":ANY:k=0:u=1:e=0:i=0:c=0:t=0", NULL },
	{ K, "wsm_unc::UNC_CLK_UNHALTED:0x0", 1, { 0x5000ff }, ":0x0", NULL },
	{ K,
	  "wsm_unc::UNC_DRAM_PRE_ALL:CH2:CH0:c=255:i",
	  1,
	  { 0xffd00566 },
	  ":CH0:CH2:e=0:i=1:c=255:o=0",
	  NULL },
	{ K,
	  "wsm_unc::UNC_QHL_FRC_ACK_CNFLTS:LOCAL",
	  1,
	  { 0x500433 },
	  ":LOCAL:e=0:i=0:c=0:o=0",
	  NULL },
	{ U, "wsm_unc::UNC_QMC_NORMAL_READS", 1, { 0x50072c }, ":ANY:e=0:i=0:c=0:o=0", NULL },
	{ K,
	  "wsm_unc::UNC_QMC_WRITES:FULL_CH0:PARTIAL_CH0:FULL_CH0",
	  PFM_ERR_FEATCOMB,
	  { 0 },
	  NULL,
	  NULL },
	{ K,
	  "wsm_unc::UNC_QMC_WRITES:FULL_CH1:FULL_CH1:o",
	  1,
	  { 0x52022f },
	  ":FULL_CH1:e=0:i=0:c=0:o=1",
	  NULL },
	{ U, "wsm_unc::UNC_QMC_WRITES:o=0", 1, { 0x50072f }, ":FULL_ANY:e=0:i=0:c=0:o=0", NULL },
	{ K,
	  "wsm_unc::UNC_QPI_TX_STALLED_SINGLE_FLIT:LINK_0",
	  1,
	  { 0x500740 },
	  ":LINK_0:e=0:i=0:c=0:o=0",
	  NULL },
	{ U,
	  "wsm_unc::UNC_THERMAL_THROTTLED_TEMP:CORE_0:c=256:o=0",
	  PFM_ERR_INVAL,
	  { 0 },
	  NULL,
	  NULL },
};

/* Of events that it does not know. */
static const struct answer later[] = {
	{ U,
	  "icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0:t=63:occ_i:occ_e",
	  1,
	  { 0xff004080 },
	  NULL,
	  NULL },
	{ U,
	  "icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C3:occ_i",
	  1,
	  { 0x40008080 },
	  NULL,
	  NULL },
	{ U,
	  "icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C6:occ_e",
	  1,
	  { 0x8000c080 },
	  NULL,
	  NULL },
	{ U,
	  "icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C6:e:i",
	  1,
	  { 0xc000c080 },
	  NULL,
	  NULL },
	{ U, "icx_unc_pcu::UNC_P_CLOCKTICKS:t=63", 1, { 0x3f000000 }, NULL, NULL },
	{ U, "icx_unc_pcu::UNC_P_CLOCKTICKS:t=64", PFM_ERR_ATTR_VAL, { 0 }, NULL, NULL },
	{ U, "icx_unc_pcu::UNC_P_CLOCKTICKS:e:i", 1, { 0x840000 }, NULL, NULL },
	{ U, "spr::MEM_TRANS_RETIRED:STORE_SAMPLE", 1, { 0x5102cd }, NULL, NULL },
	{ U, "spr::UOPS_RETIRED:MS", 2, { 0x5104c2, 0x8 }, NULL, NULL },
	{ U, "spr::INT_MISC:UNKNOWN_BRANCH_CYCLES", 2, { 0x5140ad, 0x7 }, NULL, NULL },
};

static void words_are(const struct answer *a)
{
	struct l4_code c;
	int rc = encode(a->text, a->plm, &c);

	if (a->answer < 0 ? rc != a->answer
	                  : rc || (int)c.n_words != a->answer ||
	                            memcmp(c.words, a->word, sizeof(c.words)) != 0)
		fail_msg("%s: %d, %llx %llx %llx", a->text, rc, (unsigned long long)c.words[0],
		         (unsigned long long)c.words[1], (unsigned long long)c.words[2]);
}

/* From malloc(). */
static char *string_of(const struct answer *a)
{
	struct l4_query q;
	struct l4_code c;
	char *text;

	assert_int_equal(l4_parse_event(a->text, PFM_OS_NONE, &q), PFM_SUCCESS);
	assert_int_equal(encode(a->text, a->plm, &c), PFM_SUCCESS);
	assert_int_equal(l4_format_event(&q, &c, NULL, &text), PFM_SUCCESS);
	return text;
}

/* The attributes after the event's name, with the first colon. */
static const char *attributes(const char *text)
{
	const char *event = strstr(text, "::") + 2;

	return event + strcspn(event, ":");
}

static void string_is(const struct answer *a, const char *want)
{
	char *text = string_of(a);

	if (strcmp(attributes(text), want) != 0)
		fail_msg("%s", text);
	free(text);
}

static void string_reads_back(const struct answer *a)
{
	char *text = string_of(a);
	struct l4_code again;

	if (encode(text, 0, &again) || (int)again.n_words != a->answer ||
	    memcmp(again.words, a->word, sizeof(a->word)) != 0)
		fail_msg("%s: %s", a->text, text);
	free(text);
}

static void answers_of_libpfm4(void **state)
{
	static const char *const variables[] = { "LIBPFM_ENCODE_INACTIVE", "1",
		                                 "PERFMON_LIBPFM4_CORRECT", "0", NULL };

	(void)state;
	for (unsigned exact = 0; exact < 2; exact++) {
		l4_begin("GenuineIntel-6-55-4", exact ? variables : INACTIVE);
		for (size_t i = 0; i < COUNT(answers); i++) {
			const struct answer *a = &answers[i];

			words_are(a);
			if (a->answer < 0)
				continue;
			string_is(a, exact || !a->ours ? a->theirs : a->ours);
			if (!exact)
				string_reads_back(a);
		}
	}
	l4_end_case();
}

static void answers_of_later_ones(void **state)
{
	(void)state;
	l4_begin("GenuineIntel-6-55-4", INACTIVE);
	for (size_t i = 0; i < COUNT(later); i++) {
		words_are(&later[i]);
		if (later[i].answer > 0)
			string_reads_back(&later[i]);
	}
	l4_end_case();
}

UNIT(compat_libpfm4_intel, cmocka_unit_test(selects_of_cores),
     cmocka_unit_test(extra_registers_are_the_second_word),
     cmocka_unit_test(refuses_attributes_of_no_event), cmocka_unit_test(answers_of_libpfm4),
     cmocka_unit_test(answers_of_later_ones));
