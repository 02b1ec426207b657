import type { Engine } from '../../engine.ts'
import type { Route } from '../route.ts'
import { promptRoutes } from './prompt-routes.ts'
import { PromptStore } from './prompt-store.ts'
import { catalogResources } from './resources.ts'

/** The resources of `/v1` beside records and what says who may do what. */
export function restRoutes(engine: Engine): Route[] {
  return [...catalogResources, ...promptRoutes(new PromptStore(engine))]
}
