import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'
import { type Env, startMachine } from '../support/machine.ts'

const TEMPLATES = new URL('../../../templates/', import.meta.url)
const STAGES = ['build', 'test', 'deploy']

type Job = {
  stage?: string
  extends?: string
  when?: 'always' | 'on_success' | 'on_failure'
  image?: string
  id_tokens?: Record<string, { aud: string }>
  variables?: Env
  before_script?: string[]
  script: string[]
  after_script?: string[]
  rules?: { if: string }[]
}
type Include = { component: string; inputs: Record<string, string> }
type Pipeline = {
  stages?: string[]
  default?: Partial<Job>
  variables?: Env
  include?: Include[]
} & Record<string, Job>

export type GitLabRun = {
  env: Env
  /** Issues an ID token. */
  issue(audience: string): Promise<string>
}

export type JobLog = { name: string; succeeded: boolean; log: string }

/** Runs the jobs of a `.gitlab-ci.yml` as a runner with the shell executor does, stage by stage. */
export async function runPipeline(file: string, run: GitLabRun): Promise<JobLog[]> {
  const { stages = STAGES, default: defaults = {}, variables = {}, include = [], ...own } = parse(file) as Pipeline
  const jobs: Record<string, Job> = Object.assign({}, ...include.map(readComponent), own)
  const shown = Object.entries(jobs).filter(([name]) => !name.startsWith('.'))
  const logs: JobLog[] = []
  using machine = startMachine()
  for (const stage of [...stages, '.post']) {
    const succeeded = logs.every((log) => log.succeeded)
    for (const [name, job] of shown.map(([name, job]) => [name, { ...defaults, ...extended(job, jobs) }] as const)) {
      if ((job.stage ?? 'test') !== stage || !isDue(job.when, succeeded)) continue
      const env = { ...run.env, ...variables, ...job.variables, ...(await idTokens(job, run)), CI_JOB_NAME: name }
      logs.push({ name, ...(await runJob(job, machine, { ...env, CI_COMMIT_SHA: machine.commit })) })
    }
  }
  return logs
}

/** `before_script` and `script` are one shell, `after_script` is another one. */
async function runJob(job: Job, machine: ReturnType<typeof startMachine>, env: Env) {
  const main = await machine.run(bash([...(job.before_script ?? []), ...job.script]), env)
  const status = main.code === 0 ? 'success' : 'failed'
  const after = await machine.run(bash(job.after_script ?? []), { ...env, CI_JOB_STATUS: status })
  return { succeeded: main.code === 0, log: [main.stdout, main.stderr, after.stdout, after.stderr].join('') }
}

function bash(lines: string[]): string[] {
  return ['bash', '-eo', 'pipefail', '-c', lines.join('\n')]
}

function isDue(when: Job['when'] = 'on_success', succeeded: boolean): boolean {
  return when === 'always' || succeeded === (when === 'on_success')
}

function extended(job: Job, jobs: Record<string, Job>): Job {
  if (job.extends === undefined) return job
  const base = jobs[job.extends]
  assert.ok(base, `there is no job ${job.extends}`)
  return { ...base, ...job, variables: { ...base.variables, ...job.variables } }
}

async function idTokens({ id_tokens = {} }: Job, { issue }: GitLabRun): Promise<Env> {
  const issued = Object.entries(id_tokens).map(async ([name, { aud }]) => [name, await issue(aud)])
  return Object.fromEntries(await Promise.all(issued))
}

type Spec = { spec: { inputs: Record<string, { default?: string; description: string }> } }

/** The jobs of a component, with its inputs in place. */
function readComponent({ component, inputs }: Include): Record<string, Job> {
  const [, name = ''] = /^\$CI_SERVER_FQDN\/acme\/shiplock\/([\w-]+)@main$/.exec(component) ?? []
  const text = readFileSync(new URL(`${name}.yml`, TEMPLATES), 'utf8')
  const [head, body] = text.split(/^---$/m) as [string, string]
  const { spec }: Spec = parse(head)
  assert.equal(parseAllDocuments(text).length, 2)
  for (const given of Object.keys(inputs)) assert.ok(spec.inputs[given], `the component has no input ${given}`)
  return fill(
    parse(body),
    (input) => inputs[input] ?? spec.inputs[input]?.default ?? assert.fail(`${input} is missing`),
  )
}

/** Replaces `$[[ inputs.name ]]` in every text, as GitLab does after it has read the YAML. */
function fill<T>(value: T, read: (input: string) => string): T {
  if (typeof value === 'string')
    return value.replaceAll(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, input) => read(input)) as T
  if (Array.isArray(value)) return value.map((item) => fill(item, read)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner, read)])) as T
}
