import { deleteExamplePeople } from '../access/users/example-person.store.ts'
import { listArtifactKeys, removeArtifactFiles } from '../ci/artifacts/remove-artifact-files.ts'
import type { OrganizationParts } from '../organizations/delete-organization.ts'
import type { ListObjects } from '../organizations/export-organization.ts'
import { listUploadKeys, removeUploadFiles } from '../security/uploads/remove-upload-files.ts'

/** What is deleted with an organization, besides the rows of all tables. */
export const organizationParts: OrganizationParts = {
  files: [removeArtifactFiles, removeUploadFiles],
  people: deleteExamplePeople,
}

/** What is exported with an organization, besides the rows of all tables. */
export const organizationObjects: readonly ListObjects[] = [listArtifactKeys, listUploadKeys]
