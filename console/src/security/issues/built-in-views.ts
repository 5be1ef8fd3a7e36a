import type { IssueSearch } from './issue-search.ts'

/** A named set of filters and an order. */
export type View = { name: string; search: Partial<IssueSearch>; says: string }

/** What a security engineer looks at first. */
export const BUILT_IN_VIEWS: View[] = [
  { name: 'All', search: {}, says: 'All issues, newest first' },
  {
    name: 'Fix first',
    search: { status: 'open', urgent: 'yes', sort: 'severity' },
    says: 'Open issues that are critical, high or known to be exploited, worst first',
  },
  {
    name: 'Known exploited',
    search: { status: 'open', kev: 'yes', sort: 'epss' },
    says: 'Open issues in CISA’s catalog of Known Exploited Vulnerabilities',
  },
  {
    name: 'New this week',
    search: { status: 'open', age: '7d' },
    says: 'Open issues of the last seven days, newest first',
  },
  { name: 'Dismissed', search: { status: 'dismissed' }, says: 'Issues that somebody or a VEX document dismissed' },
]
