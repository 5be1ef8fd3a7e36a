import type { BuiltInRoleId } from '../../access/roles/built-in-role.ts'

/** A fictional colleague. `login` is their account on the fictional code host. */
export type Colleague = { name: string; login: string; role: BuiltInRoleId | 'auditor'; joined: number }

/** The domain of their addresses, which nobody can own (RFC 2606). */
export const DOMAIN = 'northlane.example.com'

/** `joined` is the number of days before today. */
export const COLLEAGUES: readonly Colleague[] = [
  { name: 'Ingrid Solberg', login: 'isolberg', role: 'org_admin', joined: 90 },
  { name: 'Mateo Alvarez', login: 'malvarez', role: 'release_manager', joined: 90 },
  { name: 'Liam Byrne', login: 'lbyrne', role: 'release_manager', joined: 88 },
  { name: 'Priya Raman', login: 'praman', role: 'security', joined: 90 },
  { name: 'Samuel Okafor', login: 'sokafor', role: 'security', joined: 61 },
  { name: 'Tomasz Nowak', login: 'tnowak', role: 'developer', joined: 89 },
  { name: 'Aisha Bello', login: 'abello', role: 'developer', joined: 89 },
  { name: 'Hannah Weiss', login: 'hweiss', role: 'developer', joined: 86 },
  { name: 'Kenji Watanabe', login: 'kwatanabe', role: 'developer', joined: 70 },
  { name: 'Sofia Lindqvist', login: 'slindqvist', role: 'viewer', joined: 52 },
  { name: 'Claire Dubois', login: 'cdubois', role: 'auditor', joined: 40 },
]

export const AUTHORS = ['tnowak', 'abello', 'hweiss', 'kwatanabe', 'praman'] as const
export const REVIEWERS = ['tnowak', 'abello', 'hweiss', 'kwatanabe', 'sokafor', 'isolberg'] as const
export const RELEASE_MANAGERS = ['malvarez', 'lbyrne'] as const
