import type { KeyObject } from 'node:crypto'
import type { Account, Repository } from '../hosts/types.ts'

export type App = {
  id: number
  slug: string
  name: string
  owner: Account
  created_at: Date
  /** Tokens that one of these keys signed are accepted. */
  publicKeys: KeyObject[]
  webhookSecret: string
  /** The newest private key, in PEM. */
  privateKey: string
}

export type Installation = {
  id: number
  account: Account
  selection: 'all' | 'selected'
  /** Ids of the selected repositories. */
  selected: Set<number>
  suspended_at: Date | null
  created_at: Date
  updated_at: Date
  covers(repository: Repository): boolean
}

/** How much there is to import. */
export type BulkSizes = {
  repositories: number
  runsPerRepository: number
  deploymentsPerRepository?: number
  alertsPerRepository?: number
}
