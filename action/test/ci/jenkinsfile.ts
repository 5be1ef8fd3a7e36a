import assert from 'node:assert/strict'
import { type Env, startMachine } from '../support/machine.ts'

export type JenkinsRun = { env: Env; credentials: Env }
export type StageLog = { name: string; succeeded: boolean; log: string }

/** Runs a declarative `Jenkinsfile`: its stages until one fails, and the `post` steps that apply. */
export async function runJenkinsfile(file: string, { env, credentials }: JenkinsRun): Promise<StageLog[]> {
  const [pipeline] = parseBlocks(file)
  assert.equal(pipeline?.head, 'pipeline')
  using machine = startMachine()
  const agent: Env = { ...machine.env, ...env, GIT_COMMIT: machine.commit, WORKSPACE: machine.checkout }
  const variables = { ...agent, ...readEnvironment(child(pipeline, 'environment'), agent, credentials) }
  const logs: StageLog[] = []
  const runSteps = async (name: string, steps: Block) => {
    for (const { head } of steps.children) {
      const [, script] = /^sh '(.*)'$/.exec(head) ?? []
      assert.ok(script, `${head} is not a step that the player knows`)
      const { code, stdout, stderr } = await machine.run(['sh', '-xe', '-c', script], {
        ...variables,
        STAGE_NAME: name,
      })
      logs.push({ name, succeeded: code === 0, log: stdout + stderr })
      if (code !== 0) return
    }
  }
  for (const stage of child(pipeline, 'stages').children) {
    const [, name = ''] = /^stage\('(.+)'\)$/.exec(stage.head) ?? []
    await runSteps(name, child(stage, 'steps'))
    if (logs.some(({ succeeded }) => !succeeded)) break
  }
  const result = logs.every(({ succeeded }) => succeeded) ? 'success' : 'failure'
  for (const condition of child(pipeline, 'post').children) {
    if (['always', result].includes(condition.head)) await runSteps(`post ${condition.head}`, condition)
  }
  return logs
}

/** A statement, with the statements between its braces. */
type Block = { head: string; children: Block[] }

function child({ head, children }: Block, name: string): Block {
  const found = children.find((block) => block.head === name)
  assert.ok(found, `${head} has no ${name}`)
  return found
}

/** The subset of Groovy that a declarative pipeline with one statement a line needs. */
function parseBlocks(file: string): Block[] {
  const root: Block = { head: '', children: [] }
  const open = [root]
  for (const line of file.split('\n').map((text) => text.trim())) {
    if (line === '' || line.startsWith('//')) continue
    if (line === '}') {
      assert.ok(open.length > 1, 'a brace is closed that was not opened')
      open.pop()
      continue
    }
    const [, head = ''] = /^(.*?)(?: \{)?$/.exec(line) ?? []
    assert.equal(line.split("'").length % 2, 1, `a text is not closed: ${line}`)
    const block: Block = { head, children: [] }
    open.at(-1)?.children.push(block)
    if (line.endsWith('{')) open.push(block)
  }
  assert.equal(open.length, 1, 'a brace is not closed')
  return root.children
}

/** Values are texts, texts with `${env.NAME}`, and `credentials('id')`. */
function readEnvironment({ children }: Block, agent: Env, credentials: Env): Env {
  const entries = children.map(({ head }) => {
    const [, name = '', text, template, id = ''] =
      /^(\w+) = (?:'(.*)'|"(.*)"|credentials\('(.*)'\))$/.exec(head) ?? assert.fail(head)
    if (text !== undefined) return [name, text]
    if (template === undefined) return [name, credentials[id] ?? assert.fail(`there is no credential ${id}`)]
    return [
      name,
      template.replaceAll(/\$\{env\.(\w+)\}/g, (_, variable: string) => agent[variable] ?? assert.fail(head)),
    ]
  })
  return Object.fromEntries(entries)
}
