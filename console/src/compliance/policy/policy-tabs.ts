/** The tabs of a policy, as its address names them. */
export const POLICY_TABS = ['file', 'results', 'versions', 'edit'] as const
export type PolicyTab = (typeof POLICY_TABS)[number]
