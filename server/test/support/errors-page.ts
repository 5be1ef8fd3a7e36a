import { STATEMENT_REASONS } from '../../src/errors/provenance.ts'
import { type DeclaredError, isInErrorsPage } from './error-catalogue.ts'

const HEAD = `# Errors

<!-- Written by \`npm run errors --workspace server\` from the errors that the server declares. -->

Every error has the body \`{ "error": { "code", "message", "details" } }\`. The [ingest routes](ingest.md#errors) have their own form.

The only other exceptions are rejections by the gateway, which checks the API key, the OIDC token or the poll token.
They have no code, and never state the reason:

| HTTP | Body | Cause | What to do |
|---|---|---|---|
| 401 | \`{ "message": "Unauthorized" }\` | The API key (or poll token) is missing, malformed, unknown, revoked, expired, or belongs to another environment (or gate). The OIDC token of a CI job is not accepted. | Use a valid key. For a token, run [\`trust test\`](oidc.md#which-tokens-are-accepted). |
| 403 | \`{ "message": "Forbidden" }\` | The key, or the trust of the token, does not have the scope of the route. | Create a key or a trust with that scope. |

## Codes

| HTTP | \`code\` | Cause | What to do |
|---|---|---|---|`

const REASONS = `
## Reasons of statements

The operations that return [signed statements](api.md#signed-statements) report the first error that applies, in this
order: 404 \`not_found\` without a reason for an unknown id, 402 \`plan_required\`, then the reasons in the order of the
table. The status is 409 \`statement_unavailable\` unless stated otherwise.

| \`details.reason\` | Cause | What to do |
|---|---|---|`

/** The page docs/errors.md. */
export function errorsPage(catalogue: DeclaredError[]): string {
  const codes = catalogue.filter(isInErrorsPage)
  const rows = codes.map(({ status, code, cause, remedy }) => `| ${status} | \`${code}\` | ${cause} | ${remedy} |`)
  return [HEAD, ...rows, REASONS, ...reasonRows(), ''].join('\n')
}

function reasonRows(): string[] {
  return Object.entries(STATEMENT_REASONS).map(([reason, { cause, remedy, ...rest }]) => {
    const status = 'isNotFound' in rest ? ' (404 `not_found`)' : ''
    return `| \`${reason}\`${status} | ${cause} | ${remedy} |`
  })
}
