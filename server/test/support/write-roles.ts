// Writes the privileges in deploy/postgres/roles.sql that the code needs.
import { readFileSync, writeFileSync } from 'node:fs'
import { neededGrants, ROLES, withGrants } from './needed-grants.ts'

writeFileSync(ROLES, withGrants(readFileSync(ROLES, 'utf8'), neededGrants()))
