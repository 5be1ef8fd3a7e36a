/** Every kind of finding (decisions §7), in the order in which an issue takes its kind from its findings. */
export const FINDING_KINDS = ['code', 'dependency', 'secret', 'iac', 'container', 'license', 'other'] as const
export type FindingKind = (typeof FINDING_KINDS)[number]
