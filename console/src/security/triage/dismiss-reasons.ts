/** Why something is dismissed, with what each reason says. In the order of the keys 1 to 5. */
export const DISMISS_REASONS = [
  { value: 'false_positive', label: 'False positive', says: 'The scanner is wrong: there is no such problem here.' },
  { value: 'wont_fix', label: 'Won’t fix', says: 'The problem is real, and nobody will work on it.' },
  { value: 'used_in_tests', label: 'Used in tests', says: 'The code or secret is only in tests, and never ships.' },
  { value: 'risk_accepted', label: 'Risk accepted', says: 'The problem is real, and its owner accepts the risk.' },
  { value: 'mitigated', label: 'Mitigated', says: 'Something else, such as a firewall rule, makes it harmless.' },
] as const

export type DismissReason = (typeof DISMISS_REASONS)[number]['value']

/** A reason in words. Code hosts and VEX documents have others, which show as they are. */
export function nameOfReason(reason: string): string {
  return DISMISS_REASONS.find(({ value }) => value === reason)?.label ?? reason.replaceAll('_', ' ')
}
