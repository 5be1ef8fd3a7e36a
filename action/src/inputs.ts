import { resolve } from 'node:path'
import { getInput, getMultilineInput } from '@actions/core'
import { describeMissing, type FoundFile } from '@shiplock/report-readers/found-file'
import { ImageError, type ImageSubject, readImages } from '@shiplock/report-readers/images'
import { OutsideError, type Place, WorkingDirectory } from '@shiplock/report-readers/working-directory'

/** A mistake in an input of the step. The message names the input. */
export class InputError extends Error {
  constructor(input: string, problem: string) {
    super(`Input "${input}": ${problem}`)
    this.name = 'InputError'
  }
}

/** An attestation as the ingest route takes it. */
export type Attestation = { kind: string; name: string; data: object; status?: string }

const FILE_INPUTS = ['junit', 'coverage', 'sbom', 'scan', 'artifacts', 'ownership'] as const
export type FileInput = (typeof FILE_INPUTS)[number]

/** The inputs of the step, checked. `files` holds the lines of each input: paths and globs. */
export type Inputs = {
  url: string
  audience: string
  /** `instance` is the id of this execution of the job, if GitHub tells it. */
  job: { name: string; matrix: unknown; instance?: string }
  retries: 'stated' | 'merge' | 'count'
  name: string
  summary: string | null
  attestations: Attestation[]
  images: ImageSubject[]
  files: Record<FileInput, string[]>
  place: Place
}

/** Reads the inputs of the step. Throws an `InputError` if one is missing or wrong. */
export async function readInputs(): Promise<Inputs> {
  const url = readUrl()
  const place = { cwd: process.env.GITHUB_WORKSPACE || process.cwd(), followLinks: readFlag('follow-links', false) }
  return {
    url,
    audience: getInput('audience') || process.env.SHIPLOCK_AUDIENCE?.trim() || readDefaultAudience(url),
    job: {
      name: getInput('job-name') || process.env.GITHUB_JOB || 'default',
      matrix: readMatrix(),
      ...readInstance(),
    },
    retries: readRetries(),
    name: getInput('name') || 'default',
    summary: await readSummary(place),
    attestations: await readAttestations(place),
    images: await readImages(getMultilineInput('images')).catch(refuseImage),
    files: Object.fromEntries(FILE_INPUTS.map((input) => [input, getMultilineInput(input)])) as Inputs['files'],
    place,
  }
}

/** Whether the step fails if the report cannot be sent. */
export function readFailOnError(): boolean {
  return readFlag('fail-on-error', true)
}

const INSTANCE_CHARS_MAX = 200

/** Empty where GitHub Enterprise Server does not have the check run yet. */
function readInstance(): { instance?: string } {
  const instance = getInput('job-instance')
  if (instance.length > INSTANCE_CHARS_MAX)
    throw new InputError('job-instance', `it has more than ${INSTANCE_CHARS_MAX} characters.`)
  return instance === '' ? {} : { instance }
}

function readRetries(): Inputs['retries'] {
  const [isMerged, isCounted] = [readFlag('retries', false), readFlag('count-retries', false)]
  if (isMerged && isCounted) throw new InputError('retries', 'it cannot be combined with the input "count-retries".')
  if (isMerged) return 'merge'
  return isCounted ? 'count' : 'stated'
}

function readFlag(input: string, byDefault: boolean): boolean {
  const text = getInput(input).toLowerCase()
  if (text === '') return byDefault
  if (text === 'true' || text === 'false') return text === 'true'
  throw new InputError(input, `"${text}" is neither true nor false.`)
}

/** The error of a link or glob that leaves the directory of the job; null for other errors. */
export function refusedLink(input: string, error: unknown): InputError | null {
  if (!(error instanceof OutsideError)) return null
  const advice = `${error.target === null ? '' : 'name a file by its real path, or '}allow it with "follow-links: true"`
  return new InputError(input, `${error.message}; ${advice}.`)
}

function refuseImage(error: unknown): never {
  throw error instanceof ImageError ? new InputError('images', `${error.message}.`) : error
}

function readUrl(): string {
  const input = getInput('url') ? 'url' : 'prodgator-url'
  const text = getInput(input)
  if (text === '') throw new InputError('url', 'the URL of your Shiplock server is missing.')
  const url = URL.parse(text)
  if (url === null || !['https:', 'http:'].includes(url.protocol)) {
    throw new InputError(input, `"${text}" is not an http or https URL.`)
  }
  if (url.username || url.password) throw new InputError(input, 'the URL must not contain a user or a password.')
  return text.replace(/(?<!\/)\/+$/, '')
}

/** Where organizations share the server, the audience names the organization. */
function readDefaultAudience(url: string): string {
  const { origin } = new URL(url)
  const organization = getInput('organization') || process.env.SHIPLOCK_ORGANIZATION?.trim()
  if (!organization) return origin
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(organization)) return `${origin}/${organization}`
  throw new InputError('organization', `"${organization}" is not the short name of an organization.`)
}

function readMatrix(): unknown {
  const text = getInput('matrix')
  return text === '' ? null : parseJson('matrix', text)
}

async function readSummary(place: Place): Promise<string | null> {
  const path = getInput('summary-file')
  const text = getInput('summary')
  if (path === '') return text || null
  if (text !== '') throw new InputError('summary-file', 'it cannot be combined with the input "summary".')
  return readTextFile('summary-file', path, place)
}

async function readAttestations(place: Place): Promise<Attestation[]> {
  const text = getInput('attestations')
  if (text === '') return []
  const list = parseJson('attestations', /^[[{]/.test(text) ? text : await readTextFile('attestations', text, place))
  if (!Array.isArray(list)) throw new InputError('attestations', 'the value is not a JSON list.')
  return list.map(checkAttestation)
}

function checkAttestation(item: unknown, index: number): Attestation {
  const { kind, name, data, status } = isObject(item) ? item : {}
  const reject = (problem: string) => new InputError('attestations', `item ${index + 1} ${problem}.`)
  if (typeof kind !== 'string') throw reject('has no "kind" that is a text')
  if (typeof name !== 'string') throw reject('has no "name" that is a text')
  if (!isObject(data)) throw reject('has no "data" that is an object')
  if (status === undefined || status === null) return { kind, name, data }
  if (typeof status !== 'string') throw reject('has a "status" that is not a text')
  return { kind, name, data, status }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseJson(input: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new InputError(input, `the value is not valid JSON (${(error as Error).message}).`)
  }
}

async function readTextFile(input: string, path: string, place: Place): Promise<string> {
  const file = findFile(input, path, place)
  if (file === null) throw new InputError(input, `the file "${path}" ${describeMissing(resolve(place.cwd, path))}.`)
  try {
    return ((await file.readText()) ?? '').replace(/^\uFEFF/, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new InputError(input, `the file "${path}" cannot be read (${code ?? message}).`)
  }
}

function findFile(input: string, path: string, place: Place): FoundFile | null {
  try {
    return new WorkingDirectory(place).findFile(path)
  } catch (error) {
    throw refusedLink(input, error) ?? error
  }
}
