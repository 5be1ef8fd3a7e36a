import type { FirstOrganization } from '../access/api-keys/create-first-organization.ts'

/** A commit that a first try can name; any 40 hexadecimal characters do. */
const COMMIT = '8c5f0e1d2b3a49586776655443322110ffeeddcc'

/** What a first start prints once: the key, and two calls that work as they stand. */
export function firstSteps({ organization, key }: FirstOrganization, baseUrl: string): string {
  const run = {
    ci_system: 'my-ci',
    external_run_id: '1',
    repository: 'github.com/acme/shop',
    commit_sha: COMMIT,
    pipeline_name: 'build',
  }
  return `
Created the organization "${organization.slug}" and an API key with every scope. The key is shown only now:

  ${key.key}

Report a first CI run:

  curl -sS ${baseUrl}/v1/ci/runs \\
    -H 'Authorization: Bearer ${key.key}' \\
    -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(run)}'

and read it back:

  curl -sS ${baseUrl}/v1/runs -H 'Authorization: Bearer ${key.key}'
`
}
