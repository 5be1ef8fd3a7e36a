import { ShiplockError } from '@shiplock/sdk'

/** What to do about an error of the server, by its code. */
const ADVICE: Record<string, string> = {
  REPO_NOT_LINKED: `Create a trust for this repository on the server: npx shiplock-server trust create --org ORGANIZATION --name NAME --github ${process.env.GITHUB_REPOSITORY ?? 'OWNER/REPOSITORY'} --scope write:ci`,
  TOKEN_INVALID: 'Check that the server has a trust for this repository with the audience of this step.',
  RUN_NOT_FOUND: 'The repository is connected, but GitHub has not reported this run to the server.',
  not_found: 'Check that "url" is the URL of a Shiplock server.',
}

/** The message of an error, for the log and the annotation of the step. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof ShiplockError)) return error instanceof Error ? error.message : String(error)
  const { code, message, requestId } = error
  const request = requestId === null ? '' : ` (request ${requestId})`
  return [`${code}: ${message}${request}`, ADVICE[code] ?? ''].join('\n').trim()
}
