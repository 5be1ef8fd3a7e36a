import type { Schema } from '../../api/client.ts'

export type SecurityUpload = Schema<'SecurityUpload'>

export type Provider = NonNullable<SecurityUpload['provider']>

export type Format = NonNullable<SecurityUpload['format']>

/** What the reports of a selection are about, as the fields above the list state it. */
export type UploadTarget = {
  /** `owner/name`. */
  repository: string
  provider?: Provider | undefined
  ref?: string | undefined
  commit?: string | undefined
  /** Undefined: the server detects it. */
  format?: Format | undefined
  category?: string | undefined
}

/** `duplicate`: another file of the same selection has the same content. */
type Phase = 'waiting' | 'hashing' | 'sending' | 'reading' | 'finished' | 'duplicate' | 'failed'

/** Why a file was not uploaded, and what to do. */
export type Failure = {
  title: string
  advice: string
  canRetry: boolean
  /** Whether the file must be hashed again before another try. */
  rereads?: boolean
}

/** A file on its way to the server. */
export type UploadItem = {
  id: string
  org: string
  /** Whose upload it is: somebody else may sign in in the same tab. */
  userId: string
  /** Files that were dropped or chosen together. */
  batch: string
  file: File
  /** The name, with the folders that were dropped. */
  path: string
  target: UploadTarget
  phase: Phase
  /** Bytes of the file that were hashed or sent. */
  doneBytes: number
  /** Known after hashing. */
  sha256: string | null
  /** Known once the server knows the file. */
  upload: SecurityUpload | null
  /** Why the file waits: "The connection was lost. Trying again." */
  notice: string | null
  failure: Failure | null
  /** The path of the file with the same content. */
  twin: string | null
}

export const ACTIVE_PHASES: readonly Phase[] = ['waiting', 'hashing', 'sending', 'reading']

/** The content of these is on its way to the server, or there. */
export const SENT_PHASES: readonly Phase[] = ['sending', 'reading', 'finished']

/** These end when the tab is closed. The server reads a sent report in any case. */
export const SENDING_PHASES: readonly Phase[] = ['waiting', 'hashing', 'sending']

export function isOneOf(phases: readonly Phase[], { phase }: UploadItem): boolean {
  return phases.includes(phase)
}

/** How much of all work is done, from 0 to 1: hashing counts as a fifth, sending as the rest. */
export function shareDone(items: readonly UploadItem[]): number {
  const total = items.reduce((sum, { file }) => sum + file.size, 0)
  return total === 0 ? 0 : items.reduce((sum, item) => sum + item.file.size * shareOf(item), 0) / total
}

const HASHING_SHARE = 0.2

function shareOf({ phase, doneBytes, file }: UploadItem): number {
  const share = file.size === 0 ? 0 : doneBytes / file.size
  if (phase === 'waiting') return 0
  if (phase === 'hashing') return share * HASHING_SHARE
  if (phase === 'sending') return HASHING_SHARE + share * (1 - HASHING_SHARE)
  return 1
}
