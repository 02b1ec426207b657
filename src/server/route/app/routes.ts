import type { Engine } from '../../../engine.ts'
import type { Route } from '../../route.ts'
import { appAiSecretRoutes } from './ai-secret.ts'
import { appDatasetRoutes } from './dataset.ts'
import { appDatasetSnapshotRoutes } from './dataset-snapshot.ts'
import { environmentObjectRoutes } from './environment-object.ts'
import { appExperimentRoutes } from './experiment.ts'
import { appFunctionRoutes, type FunctionRouteOptions } from './function.ts'
import { type LoginOptions, loginRoutes } from './login.ts'
import { appPlaygroundRoutes } from './playground.ts'
import { appProjectRoutes } from './project.ts'
import { appAutomationRoutes } from './project-automation.ts'
import { appSelfRoutes } from './self.ts'
import { appSummaryRoutes } from './summary.ts'

export interface AppOptions extends LoginOptions {
  readonly engine: Engine
}

/** What clients ask of the app side of the hosted product: one server is both sides here. */
export function appRoutes(options: AppOptions & FunctionRouteOptions): Route[] {
  return [
    ...loginRoutes(options),
    ...appProjectRoutes,
    ...appAutomationRoutes,
    ...appExperimentRoutes,
    ...appDatasetRoutes,
    ...appDatasetSnapshotRoutes,
    ...appAiSecretRoutes,
    ...appPlaygroundRoutes,
    ...appSelfRoutes,
    ...appSummaryRoutes(options.engine),
    ...appFunctionRoutes(options),
    ...environmentObjectRoutes(options.prompts),
  ]
}
