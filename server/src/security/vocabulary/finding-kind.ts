/**
 * All kinds of findings (decisions §7). An issue with findings of several kinds has the kind that
 * comes first here.
 */
export const FINDING_KINDS = ['code', 'dependency', 'secret', 'iac', 'container', 'license', 'other'] as const
export type FindingKind = (typeof FINDING_KINDS)[number]
