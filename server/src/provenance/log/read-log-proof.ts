import type { Services } from '../../services.ts'
import type { LogEntry } from './log-entry.store.ts'

/** The proof that an entry is in the log. Hashes are base64. */
export type LogProof = {
  origin: string
  /** The bytes of the entry as text. */
  entry: string
  leaf_index: number
  tree_size: number
  inclusion_proof: string[]
  /** From the given older size to `tree_size`. Null if no older size was given. */
  consistency_proof: string[] | null
  /** The signed note of the tree with `tree_size` entries. */
  checkpoint: string
}

export async function readLogProof(_services: Services, _entry: LogEntry, _checkpointSize?: number): Promise<LogProof> {
  throw new Error('The log has no proofs yet.')
}
