import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Ended, type Env, startMachine } from '../support/machine.ts'

/** What a job printed, and whether every step succeeded. */
export type Log = { succeeded: boolean; log: string }

class Steps {
  succeeded = true
  log = ''

  add({ code, stdout, stderr }: Ended): void {
    this.succeeded &&= code === 0
    this.log += stdout + stderr
  }
}

type CircleStep = 'checkout' | { run: { name: string; command: string; when?: 'always' } }
type CircleConfig = {
  jobs: { build: { environment: Env; steps: CircleStep[] } }
  workflows: { build: { jobs: string[] } }
}

/** Runs the job `build` of a `.circleci/config.yml`. Every step reads `$BASH_ENV` first. */
export async function runCircleConfig(file: string, env: Env): Promise<Log> {
  const { jobs, workflows }: CircleConfig = parse(file)
  assert.deepEqual(workflows.build.jobs, Object.keys(jobs))
  using machine = startMachine()
  const bashEnv = join(machine.temp, 'bash-env')
  writeFileSync(bashEnv, '')
  const variables = { ...env, ...jobs.build.environment, CIRCLE_SHA1: machine.commit, BASH_ENV: bashEnv }
  const steps = new Steps()
  for (const step of jobs.build.steps) {
    if (step === 'checkout' || !(steps.succeeded || step.run.when === 'always')) continue
    steps.add(await machine.run(['bash', '-eo', 'pipefail', '-c', step.run.command], variables))
  }
  return steps
}

type BuildkitePipeline = { env: Env; steps: { label: string; key: string; command: string }[] }

/** Runs a `.buildkite/pipeline.yml`. Its upload replaces `$$` with `$`. */
export async function runBuildkitePipeline(file: string, env: Env, agent: string): Promise<Log> {
  const pipeline: BuildkitePipeline = parse(file)
  using machine = startMachine()
  writeFileSync(join(machine.temp, 'buildkite-agent'), agent, { mode: 0o755 })
  const variables = {
    ...env,
    ...pipeline.env,
    PATH: `${machine.temp}:${machine.env.PATH}`,
    BUILDKITE_COMMIT: machine.commit,
    BUILDKITE_BUILD_CHECKOUT_PATH: machine.checkout,
  }
  const steps = new Steps()
  for (const { label, key, command } of pipeline.steps) {
    assert.doesNotMatch(command.replaceAll('$$', ''), /\$/, 'a variable would be read when the pipeline is uploaded')
    const own = { ...variables, BUILDKITE_LABEL: label, BUILDKITE_STEP_KEY: key }
    steps.add(await machine.run(['/bin/bash', '-e', '-c', command.replaceAll('$$', '$')], own))
  }
  return steps
}

type AzureStep = { bash: string; displayName: string; condition?: 'always()'; env?: Env }
type AzurePipeline = { variables: Env; steps: AzureStep[] }

/** Runs an `azure-pipelines.yml`. Secrets such as `System.AccessToken` reach only steps that map them. */
export async function runAzurePipeline(file: string, env: Env, secrets: Env): Promise<Log> {
  const pipeline: AzurePipeline = parse(file)
  using machine = startMachine()
  const steps = new Steps()
  for (const step of pipeline.steps) {
    if (!steps.succeeded && step.condition !== 'always()') continue
    const mapped = Object.entries(step.env ?? {}).map(([name, value]) => [name, expandMacro(value, secrets)])
    const variables = {
      ...env,
      ...pipeline.variables,
      ...Object.fromEntries(mapped),
      BUILD_SOURCEVERSION: machine.commit,
      AGENT_TEMPDIRECTORY: machine.temp,
      AGENT_JOBSTATUS: steps.succeeded ? 'Succeeded' : 'Failed',
    }
    const script = join(machine.temp, 'step.sh')
    writeFileSync(script, step.bash)
    steps.add(await machine.run(['bash', '--noprofile', '--norc', script], variables))
  }
  return steps
}

function expandMacro(value: string, secrets: Env): string {
  return value.replaceAll(/\$\(([\w.]+)\)/g, (macro, name: string) => secrets[name] ?? assert.fail(macro))
}

type BitbucketStep = { name: string; oidc?: boolean; script: string[]; 'after-script'?: string[] }
type BitbucketPipelines = { pipelines: { default: { step: BitbucketStep }[] } }

/** Runs the default pipeline of a `bitbucket-pipelines.yml`. Steps with `oidc` get the token. */
export async function runBitbucketPipelines(file: string, env: Env, idToken: Env): Promise<Log> {
  const { pipelines }: BitbucketPipelines = parse(file)
  using machine = startMachine()
  const steps = new Steps()
  for (const { step } of pipelines.default) {
    const variables = { ...env, ...(step.oidc && idToken), BITBUCKET_COMMIT: machine.commit }
    const main = await machine.run(['bash', '-eo', 'pipefail', '-c', step.script.join('\n')], variables)
    steps.add(main)
    const exit = { BITBUCKET_EXIT_CODE: main.code === 0 ? '0' : '1' }
    steps.add(await machine.run(['bash', '-c', (step['after-script'] ?? []).join('\n')], { ...variables, ...exit }))
  }
  return steps
}

/** Runs a script with the variables of whoever calls it. */
export async function runScript(file: string, env: Env): Promise<Log> {
  using machine = startMachine()
  const script = join(machine.temp, 'build.sh')
  writeFileSync(script, file, { mode: 0o755 })
  const steps = new Steps()
  steps.add(await machine.run(['npm', 'install', '--global', env.SHIPLOCK_CLI ?? ''], env))
  steps.add(await machine.run([script], env))
  return steps
}
