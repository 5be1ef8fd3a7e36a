import { isAlias, isMap, LineCounter, parseDocument, visit, type YAMLMap } from 'yaml'
import { globMistake } from '../../platform/glob.ts'
import type { PolicyBindings, PolicyMode } from '../policy.schema.ts'
import { type EngineFile, readEngine } from './engine-fields.ts'
import { PolicyFileError, type PolicyMistake } from './policy-mistake.ts'
import { YamlFields, type YamlReading } from './yaml-fields.ts'

/** What a policy file says, before a bundle that it names is read. */
export type PolicyFile = {
  name: string
  mode: PolicyMode
  bindings: PolicyBindings | null
  engine: EngineFile
}

export const POLICY_FILE_BYTES_MAX = 64 * 1024
const GLOBS_MAX = 50
const NAME = { max: 100, pattern: /^[\p{L}\p{N}][\p{L}\p{N} ._:/()+-]*$/u, form: 'a name like tests-passed' }

/** Reads a policy file (docs/policies.md): YAML 1.2, one document. Throws `PolicyFileError` with every mistake and its line. */
export function parsePolicyFile(text: string): PolicyFile {
  const reading: YamlReading = { lines: new LineCounter(), mistakes: [] }
  const fields = new YamlFields(readMap(text, reading), '', reading)
  const name = fields.text('name', NAME)
  const mode = fields.oneOf('mode', ['monitor', 'enforce'], 'monitor')
  if (!fields.has('mode')) fields.refuse('mode', 'is missing; write monitor or enforce')
  const bindings = readBindings(fields)
  const engine = readEngine(fields)
  fields.refuseUnknown()
  if (reading.mistakes.length > 0 || name === null || engine === null) throw new PolicyFileError(reading.mistakes)
  return { name, mode, bindings, engine }
}

/** The document's one map. Aliases are refused: a few lines of them can stand for millions of values. */
function readMap(text: string, { lines, mistakes }: YamlReading): YAMLMap {
  if (Buffer.byteLength(text) > POLICY_FILE_BYTES_MAX) {
    throw new PolicyFileError([mistake(1, `a policy file has at most ${POLICY_FILE_BYTES_MAX} bytes`)])
  }
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  for (const { pos, message } of [...document.errors, ...document.warnings]) {
    mistakes.push(mistake(lines.linePos(pos[0]).line, message))
  }
  visit(document, (_key, node) => {
    if (!isAlias(node)) return
    mistakes.push(mistake(lines.linePos(node.range?.[0] ?? 0).line, 'a policy file has no aliases; repeat the value'))
  })
  if (!isMap(document.contents)) mistakes.push(mistake(1, 'a policy file has fields: name, mode, bindings, rules'))
  if (mistakes.length > 0 || !isMap(document.contents)) throw new PolicyFileError(mistakes)
  return document.contents
}

function mistake(line: number, message: string): PolicyMistake {
  return { line, path: '', message }
}

function readBindings(fields: YamlFields): PolicyBindings | null {
  const bindings = fields.map('bindings')
  if (bindings === null) return null
  const [environments = null, repositories = null, branches = null] = ['environments', 'repositories', 'branches'].map(
    (name) => bindings.texts(name, GLOBS_MAX, globMistake),
  )
  bindings.refuseUnknown()
  if (environments === null && repositories === null && branches === null) {
    fields.refuse('bindings', "must name environments, repositories or branches; '*' is every one")
  }
  return { environments, repositories, branches }
}
