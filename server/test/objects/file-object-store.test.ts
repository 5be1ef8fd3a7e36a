import { objectStoreContract } from '../support/object-store-contract.ts'
import { startFileStore } from '../support/file-store-server.ts'

objectStoreContract('files', startFileStore)
