import type { Context } from '@shiplock/command-line/command'
import { integerOption, type Options, UsageError } from '@shiplock/command-line/options'
import { detectCi } from '../ci/detect-ci.ts'
import { normalizeUuid } from '../ci/job-identity.ts'
import type { Connected } from '../connection/client.ts'

/** The options that tell one execution of a job from others, where the CI is not known to us. */
export const EXECUTION_OPTIONS = {
  'job-key': {
    type: 'text',
    value: 'KEY',
    about: 'what the CI calls this job inside of this run, equal for every try of it',
  },
  'job-instance': {
    type: 'text',
    value: 'ID',
    about: "the CI's id of this execution of the job (SHIPLOCK_JOB_INSTANCE; by default from the CI or its token)",
  },
  'job-retries': { type: 'text', value: 'N', about: 'how often the CI tried this job before' },
} as const satisfies Options

type InstanceOption = { 'job-instance': string | undefined }
type ExecutionOptions = InstanceOption & { 'job-key': string | undefined; 'job-retries': string | undefined }

/** What tells the job of a report from others of its name (ci-evidence §2). */
type Execution = { key?: string; instance?: string; retries?: number }

const CHARS_MAX = 200
const RETRIES = [0, 999] as const

/** What tells the job of a report from others of its name. Throws a `UsageError`. */
export async function describeExecution(
  options: ExecutionOptions,
  client: Connected,
  context: Pick<Context, 'env' | 'cwd'>,
): Promise<Execution> {
  const ci = detectCi(context.env, context.cwd)
  const key = limited('job-key', options['job-key']) ?? ci?.job_key
  const instance = await findExecution(options, client, context)
  const text = options['job-retries']
  const retries = text === undefined ? ci?.job_retries : integerOption('job-retries', text, RETRIES)
  return {
    ...(key && { key }),
    ...(instance && { instance }),
    ...(typeof retries === 'number' && { retries }),
  }
}

/** The id of the execution: that of the option, of the token, of the variable, or of the CI; null if unknown. */
export async function findExecution(
  options: InstanceOption,
  { token }: Connected,
  { env, cwd }: Pick<Context, 'env' | 'cwd'>,
): Promise<string | null> {
  const given = limited('job-instance', options['job-instance'])
  if (given !== undefined) return given
  const claim = await token().then(readInstance, () => 'unknown' as const)
  // The server takes it from the token, which will be requested again.
  if (claim === 'unknown') return null
  return claim ?? (env.SHIPLOCK_JOB_INSTANCE?.slice(0, CHARS_MAX) || detectCi(env, cwd)?.job_instance || null)
}

function limited(name: string, value: string | undefined): string | undefined {
  if (value !== undefined && (value === '' || value.length > CHARS_MAX))
    throw new UsageError(`--${name} must have 1 to ${CHARS_MAX} characters`)
  return value
}

/** The claims of GitHub, GitLab and Bitbucket for one execution of a job. Null for keys and other tokens. */
function readInstance(token: string): string | null {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const claim = claims.check_run_id ?? claims.job_id ?? normalizeUuid(claims.stepUuid)
    return claim === undefined || claim === null ? null : String(claim).slice(0, CHARS_MAX)
  } catch {
    return null
  }
}
