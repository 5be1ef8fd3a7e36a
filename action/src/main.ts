import { info, getIDToken } from '@actions/core'
import { readInputs } from './inputs.ts'
info(JSON.stringify(readInputs()))
void getIDToken('x')
