export const GROUPING_CODES = [
  'same_vulnerability',
  'same_secret',
  'same_fingerprint',
  'same_location',
  'single',
] as const

/** In the order of the rules: the first rule that matches is a finding's reason. */
export type GroupingCode = (typeof GROUPING_CODES)[number]

/** Why a finding belongs to its issue. `detail` is a sentence; null for the code `single`. */
export type GroupingReason = { code: GroupingCode; detail: string | null }

/** The detail of the code `single`, which is not stored. */
export const SINGLE_DETAIL = 'No other finding in the repository matches this one.'
export const SINGLE: GroupingReason = { code: 'single', detail: null }
