import { S3ObjectStore } from '../../src/platform/objects/s3-object-store.ts'
import { objectStoreContract } from '../support/object-store-contract.ts'
import { requireS3 } from '../support/s3-under-test.ts'

objectStoreContract('S3', async () => ({ store: new S3ObjectStore(requireS3()), close: async () => {} }))
