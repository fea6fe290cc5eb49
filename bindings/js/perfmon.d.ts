// SPDX-License-Identifier: MIT

/** A register and its value. */
export interface Register {
  /** PFM_REG_* */
  kind: number;
  number: number;
  /** On x86 the MSR, or the number again. */
  address: bigint;
  value: bigint;
  name: string;
  /** Index of the first event of the set that needs it. */
  event: number | null;
}

/** An encoded event. */
export interface EncodedEvent {
  pmu: number;
  number: number;
  /** PFM_PLM* */
  levels: number;
  registers: Register[];
  /** Counter mask; fixed counter n is bit 32 + n. */
  counters: bigint;
  attr: {
    /** null: depends on the machine. */
    type: number | null;
    config: bigint[];
    /** User, kernel, hypervisor. */
    exclude: boolean[];
    precise: number;
  };
}

/** Events placed on counters. */
export interface EventSet {
  /** Fixed counter n is 32 + n; -1: needs no counter. */
  counters: number[];
  writes: Register[];
  reads: Register[];
}

export interface Plan {
  groups: string[];
  rounds: number;
  bound: number;
}

export interface MetricValue {
  /** "defined", "division by zero", "not counted" or "out of range" */
  state: string;
  value: number;
  missing: number | null;
  unit: string;
  inputs: string[];
}

export interface Description {
  pmu: string;
  processor: string;
  source: string;
  name: string;
  text: string;
  counters: bigint;
  errata: string[];
}

export type Dialect = "libpfm" | "libpmc" | "perf" | "vendor";

export declare class PerfmonError extends Error {
  code: number;
  kind: string;
  start: number;
  end: number;
  clash: number[];
  suggestions: string[];
}

export declare class Perfmon {
  encode(text: string, levels?: number): EncodedEvent;
  dispatch(texts: string[]): EventSet;
  decode(pmu: string, register: string, value: bigint | number | string): string[];
  print(text: string, dialect?: Dialect): string;
  plan(texts: string[]): Plan;
  metric(text: string, values?: number[]): MetricValue;
  describe(text: string): Description;
  pmus(): { name: string; description: string }[];
}

export interface OpenOptions {
  wasm?: Uint8Array;
  tables?: Uint8Array;
}

export declare function open(options?: OpenOptions): Promise<Perfmon>;
