/**
 * Loaded into the tests' process: a property that fails is not reduced to a smaller input. That can
 * take minutes, in which the process would count as busy.
 */
import fc from "fast-check";

fc.configureGlobal({ endOnFailure: true });
