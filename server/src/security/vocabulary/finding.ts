/** All kinds of findings (decisions §7). */
export const FINDING_KINDS = ['code', 'dependency', 'secret', 'iac', 'container', 'license', 'other'] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

export const FINDING_STATES = ['open', 'fixed', 'dismissed'] as const
export type FindingState = (typeof FINDING_STATES)[number]

export const ISSUE_STATUSES = ['open', 'fixed', 'dismissed'] as const
export type IssueStatus = (typeof ISSUE_STATUSES)[number]

/** How a report was submitted: in the console, by the API, or as an artifact of a CI report. */
export const UPLOAD_ORIGINS = ['ui', 'api', 'report'] as const
export type UploadOrigin = (typeof UPLOAD_ORIGINS)[number]

export const UPLOAD_STATUSES = ['pending', 'queued', 'parsing', 'finished', 'failed'] as const
export type UploadStatus = (typeof UPLOAD_STATUSES)[number]

/** Lanes as users read them (decisions §7). */
export const SHOWN_LANES = ['verified', 'uploaded', 'self_reported', 'ui', 'untrusted'] as const
/** What they mean, for descriptions of the API. */
export const SHOWN_LANES_TEXT =
  '`verified` for the OIDC token of a job about its own ref and commit, `uploaded` for an API key or another job of the repository, ' +
  '`self_reported` for a CI report of an API key, `ui` for a person, and `untrusted` for a job in which code of strangers may have run.'

/**
 * What a finding comes from: an alert of a code host, an uploaded report, a CI report, or a match
 * of a stored component with an advisory.
 */
export const FINDING_ORIGINS = ['alert', 'upload', 'report', 'inventory'] as const
export type FindingOrigin = (typeof FINDING_ORIGINS)[number]

/** The origin of the findings of an upload. */
export function toFindingOrigin(origin: UploadOrigin): FindingOrigin {
  return origin === 'report' ? 'report' : 'upload'
}

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

export const IDENTITY_METHODS = [
  'new',
  'same_fingerprint',
  'same_place',
  'edited_in_place',
  'moved_in_file',
  'file_renamed',
  'moved_to_file',
] as const

/**
 * How a finding of a report was recognized as a stored one. `new` is for findings that were only
 * ever matched exactly; it is not stored.
 */
export type IdentityMethod = (typeof IDENTITY_METHODS)[number]

/** What of a finding may change so that a decision about it ends (decisions §7). */
export const DECIDED_MARKS = [
  'package',
  'version',
  'file',
  'text',
  'fingerprint',
  'message',
  'columns',
  'location',
] as const
export type DecidedMark = (typeof DECIDED_MARKS)[number]
