// Writes docs/errors.md.
import { writeFile } from 'node:fs/promises'
import { readErrorCatalogue } from './error-catalogue.ts'
import { errorsPage } from './errors-page.ts'

await writeFile(new URL('../../../docs/errors.md', import.meta.url), errorsPage(await readErrorCatalogue()))
