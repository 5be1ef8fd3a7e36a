import { startFileStore } from '../support/file-store-server.ts'
import { objectStoreContract } from '../support/object-store-contract.ts'

objectStoreContract('files', startFileStore)
