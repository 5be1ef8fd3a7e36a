/** Every scope that a key can carry (specification, "Authentication" 3). */
export const SCOPES = [
  'read:pipelines',
  'read:deployments',
  'write:deployments',
  'read:security',
  'write:security-findings',
  'read:compliance',
  'read:attestations',
  'write:ci',
  'write:compliance-override',
] as const

export type Scope = (typeof SCOPES)[number]

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text)
}
