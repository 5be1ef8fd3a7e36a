import type { Message } from './load.ts'

let made = 0

/** A run as a CI system reports it, with most of the fields there are. Each one is another run. */
export function newRun(): Record<string, string | number> {
  made += 1
  return {
    ci_system: 'buildkite',
    ci_system_name: 'Buildkite',
    external_run_id: `bench/${process.pid}/${made}`,
    attempt: 1,
    repository: 'https://github.com/acme/shop.git',
    commit_sha: made.toString(16).padStart(40, '0'),
    ref: 'refs/heads/main',
    pipeline_name: 'build and test',
    url: `https://ci.acme.example/shop/builds/${made}`,
    status: 'in_progress',
    started_at: '2026-01-31T12:00:00.000Z',
    actor: 'ada',
    event: 'push',
    timeout_minutes: 60,
  }
}

/** The request that reports a new run. */
export function newRunMessage(key: string): Message {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return { headers, body: JSON.stringify(newRun()) }
}
