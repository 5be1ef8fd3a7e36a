import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { parse } from 'yaml'
import { type Ended, type Env, type Machine, startMachine } from '../support/machine.ts'

const ACTION = new URL('../../', import.meta.url)

type Step = { uses?: string; run?: string; if?: string; with?: Record<string, string>; env?: Env }
type Job = { needs?: string | string[]; if?: string; steps: Step[] }
type Workflow = { name: string; permissions?: Record<string, string>; env?: Env; jobs: Record<string, Job> }
type Metadata = { inputs: Record<string, { default?: string }>; runs: { using: string; main: string } }

/** What GitHub knows of the run. */
export type GitHubRun = {
  /** The variables of the runner, without those of the job. */
  variables: Env
  /** The variables of the endpoint that issues ID tokens. Jobs get them with `id-token: write`. */
  idToken: Env
  vars: Env
}

export type JobResult = {
  result: 'success' | 'failure' | 'skipped'
  succeeded: boolean
  log: string
  outputs: string
  summary: string
}

const SKIPPED: JobResult = { result: 'skipped', succeeded: false, log: '', outputs: '', summary: '' }

/** Runs a workflow file as GitHub's runner does: its jobs one after the other, each on a new machine. */
export async function runWorkflow(file: string, run: GitHubRun): Promise<Record<string, JobResult>> {
  const workflow: Workflow = parse(file)
  const results: Record<string, JobResult> = {}
  for (const [id, job] of Object.entries(workflow.jobs)) {
    const needs = Object.fromEntries([job.needs ?? []].flat().map((name) => [name, results[name]]))
    const contexts = { ...run, needs, github: { job: id }, matrix: null, env: workflow.env ?? {} }
    const isDue = evaluate(job.if ?? 'success()', { ...contexts, succeeded: allSucceeded(Object.values(needs)) })
    results[id] = isDue ? await runJob(workflow, job, contexts) : SKIPPED
  }
  return results
}

/** What expressions can read. `env` is what the workflow sets. */
type Contexts = GitHubRun & {
  env: Env
  github: { job: string }
  matrix: null
  needs: object
  /** The running job. GitHub Enterprise Server may have no check run. */
  job?: { check_run_id?: number }
  succeeded?: boolean
}

async function runJob({ permissions, name }: Workflow, job: Job, contexts: Contexts): Promise<JobResult> {
  using machine = startMachine()
  const files = { GITHUB_OUTPUT: join(machine.temp, 'output'), GITHUB_STEP_SUMMARY: join(machine.temp, 'summary') }
  for (const path of Object.values(files)) writeFileSync(path, '')
  const variables = {
    ...contexts.variables,
    ...contexts.env,
    ...(permissions?.['id-token'] === 'write' && contexts.idToken),
    ...files,
    GITHUB_JOB: contexts.github.job,
    GITHUB_WORKFLOW: name,
    GITHUB_SHA: machine.commit,
    GITHUB_WORKSPACE: machine.checkout,
    RUNNER_TEMP: machine.temp,
  }
  let log = ''
  let succeeded = true
  for (const step of job.steps) {
    if (!evaluate(step.if ?? 'success()', { ...contexts, succeeded })) continue
    const { code, stdout, stderr } = await runStep(step, machine, { ...contexts, succeeded, variables })
    log += stdout + stderr
    succeeded &&= code === 0
  }
  const [outputs, summary] = Object.values(files).map((path) => readFileSync(path, 'utf8')) as [string, string]
  return { result: succeeded ? 'success' : 'failure', succeeded, log, outputs, summary }
}

async function runStep(step: Step, machine: Machine, contexts: Contexts): Promise<Ended> {
  const env = { ...contexts.variables, ...expandAll(step.env ?? {}, contexts) }
  if (step.run !== undefined) return machine.run(['bash', '-e', '-c', expand(step.run, contexts)], env)
  if (step.uses?.startsWith('actions/checkout@')) return { code: 0, stdout: '', stderr: '' }
  assert.match(step.uses ?? '', /^[\w-]+\/shiplock\/action@v1$/)
  return runAction(machine, { ...env, ...inputsOf(step.with ?? {}, contexts) })
}

/** Runs our action with its variables `INPUT_…`. */
export function runAction(machine: Machine, env: Env): Promise<Ended> {
  const { using, main } = readMetadata().runs
  assert.equal(using, 'node24')
  return machine.run([process.execPath, new URL(main, ACTION).pathname], env)
}

/** The variables of the action's inputs: those of the step, and the defaults of action.yml. */
function inputsOf(given: Record<string, string>, contexts: Contexts): Env {
  const { inputs } = readMetadata()
  for (const name of Object.keys(given)) assert.ok(inputs[name], `the action has no input ${name}`)
  const values = Object.entries(inputs).map(([name, input]) => [name, given[name] ?? input.default ?? ''] as const)
  return Object.fromEntries(values.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, expand(value, contexts)]))
}

function readMetadata(): Metadata {
  return parse(readFileSync(new URL('action.yml', ACTION), 'utf8'))
}

function allSucceeded(results: (JobResult | undefined)[]): boolean {
  return results.every((job) => job?.result === 'success')
}

function expandAll(values: Env, contexts: Contexts): Env {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expand(value, contexts)]))
}

/** Replaces `${{ … }}`. */
function expand(text: string, contexts: Contexts): string {
  return text.replaceAll(/\$\{\{(.*?)\}\}/gs, (_, expression: string) => String(evaluate(expression, contexts) ?? ''))
}

/** An expression of GitHub. The operators and literals that we use mean the same in JavaScript. */
function evaluate(expression: string, { succeeded, env, vars, github, matrix, needs, job }: Contexts): unknown {
  const script = expression.replaceAll(/\bneeds\.\*\.(\w+)/g, "pluck(needs, '$1')")
  return runInNewContext(script, {
    env,
    vars,
    github,
    matrix,
    needs,
    job: job ?? {},
    pluck: (all: Record<string, Record<string, unknown>>, name: string) => Object.values(all).map((one) => one[name]),
    contains: (list: unknown[], item: unknown) => list.includes(item),
    toJSON: (value: unknown) => JSON.stringify(value, null, 2),
    success: () => succeeded,
    failure: () => !succeeded,
    always: () => true,
  })
}
