import type { Answer, Caller, TestApi } from './api.ts'
import type { Json } from './json.ts'

let made = 0

/**
 * A valid body of createCiRun: the required fields, a unique external id, and the fields of the
 * test.
 */
export function newRun(fields: Record<string, unknown> = {}): Record<string, unknown> {
  made += 1
  return {
    ci_system: 'buildkite',
    external_run_id: `run-${made}`,
    repository: 'github.com/acme/api',
    commit_sha: 'a'.repeat(40),
    pipeline_name: 'build',
    ...fields,
  }
}

export function postRun(api: TestApi, { key }: Caller, fields: Record<string, unknown> = {}): Promise<Answer> {
  return api.request('POST', '/v1/ci/runs', { key, body: newRun(fields) })
}

/** Creates a run and returns it. */
export async function createRun(api: TestApi, caller: Caller, fields: Record<string, unknown> = {}): Promise<Json> {
  const { status, body, text } = await postRun(api, caller, fields)
  if (status !== 201) throw new Error(`createCiRun answered ${status}: ${text}`)
  return body.data
}

export function patchRun(api: TestApi, { key }: Caller, id: string, body: Record<string, unknown>): Promise<Answer> {
  return api.request('PATCH', `/v1/ci/runs/${id}`, { key, body })
}

/**
 * Values that `url` of a run does not accept: no http address, no host, credentials, white space,
 * control characters.
 */
export const BAD_URLS = [
  '',
  'ci.example/1',
  'ftp://ci.example/1',
  'javascript://ci.example/1',
  'https://',
  'https:///ci.example/1',
  'https:ci.example/1',
  'https:\\\\ci.example\\1',
  'https://u:p@h/x',
  'https://token@ci.example/1',
  'https://:@ci.example/1',
  'https:///u:p@h/x',
  'https://h\\u:p@h/x',
  'https://ci.example/1\n',
  'https://ci.example/1 ',
  ' https://ci.example/1',
  'https://ci.example/1 2',
  'https://ci.example/\t1',
  'https://ci.example/\u0000',
  'https://ci.example/\u001b[2J',
  'https://ci.example/\u0085',
]
