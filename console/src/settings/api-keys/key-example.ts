import type { Scope } from './scopes.ts'

/** What a key can read first, in the order in which it is tried. */
const READS: [scope: Scope, path: string][] = [
  ['read:pipelines', '/v1/runs?limit=1'],
  ['read:deployments', '/v1/deployments?limit=1'],
  ['read:security', '/v1/security/issues?limit=1'],
  ['read:compliance', '/v1/policies'],
  ['read:attestations', '/v1/changes?limit=1'],
]

type Example = { terminal: string; ci: string | null }

/** A first command with a key, and steps of a job if the key can report. */
export function exampleOf({ key, scopes }: { key: string; scopes: Scope[] }, server: string): Example {
  const settings = `export SHIPLOCK_URL=${server}\nexport SHIPLOCK_KEY=${key}`
  const [, path] = READS.find(([scope]) => scopes.includes(scope)) ?? []
  const call = path && `curl -H "Authorization: Bearer $SHIPLOCK_KEY" "$SHIPLOCK_URL${path}"`
  return { terminal: [settings, call].filter(Boolean).join('\n'), ci: jobSteps(scopes) }
}

function jobSteps(scopes: Scope[]): string | null {
  const steps = [
    scopes.includes('write:ci') && 'npx shiplock run start --pipeline build',
    scopes.includes('write:security-findings') && 'npx shiplock upload results.sarif',
    scopes.includes('write:ci') && 'npx shiplock run finish --status success',
  ].filter((step) => step !== false)
  return steps.length === 0 ? null : ['# SHIPLOCK_URL and SHIPLOCK_KEY as above', ...steps].join('\n')
}
