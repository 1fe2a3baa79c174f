# A crossed binomial mixed model with profile likelihood, on a few cells of the grid: coverage of ED, width over oracle, seconds a table.
# Run: Rscript benchmarks/mixed_model.R TABLES (R with lme4). Quoted in INTERVALS.md; no part of Caveat needs it.
#
# Profile limits of the side's coefficient, with intercept and variance components at their estimates, become limits of ED by integration
# over the normal effects of task and context.
suppressMessages(library(lme4))
tables <- as.integer(commandArgs(trailingOnly = TRUE)[1])
nodes <- qnorm((1:400 - 0.5) / 400)
marginal <- function(center, spread) mean(plogis(center + spread * nodes))
find_center <- function(rate, spread) uniroot(function(c) marginal(c, spread) - rate, c(-30, 30), tol = 1e-10)$root

draw <- function(tasks, contexts, sd, rates) {
  task <- rnorm(tasks)
  do.call(rbind, lapply(1:2, function(side) {
    center <- find_center(rates[side], sqrt(1 + 0.16 + sd^2))
    effect <- rnorm(contexts, 0, sd)
    d <- expand.grid(task = 1:tasks, context = 1:contexts)
    share <- plogis(center + task[d$task] + effect[d$context] + rnorm(nrow(d), 0, 0.4))
    data.frame(y = as.integer(runif(nrow(d)) < share), side = side - 1, task = factor(d$task), context = factor(paste(side, d$context)))
  }))
}

estimate <- function(d) {
  quiet <- function(x) suppressWarnings(suppressMessages(x))
  model <- quiet(glmer(y ~ side + (1 | task) + (1 | context), d, family = binomial))
  spread <- sqrt(sum(sapply(VarCorr(model), function(v) v[1])))
  b <- fixef(model)
  ends <- quiet(confint(model, parm = "side", method = "profile"))
  to_ed <- function(slope) marginal(b[1], spread) - marginal(b[1] + slope, spread)
  c(sort(c(to_ed(ends[1]), to_ed(ends[2]))), mean(d$y[d$side == 0]) - mean(d$y[d$side == 1]))
}

set.seed(2611)
for (cell in list(c(50, 5, 0.4, 0.3, 0.7), c(50, 5, 0.8, 0.05, 0.3), c(50, 10, 0, 0.3, 0.3))) {
  start <- proc.time()[1]
  found <- t(sapply(1:tables, function(i) tryCatch(estimate(draw(cell[1], cell[2], cell[3], cell[4:5])), error = function(e) rep(NA, 3))))
  seconds <- (proc.time()[1] - start) / tables
  truth <- cell[4] - cell[5]
  kept <- found[complete.cases(found), , drop = FALSE]
  wide <- replicate(2000, { d <- draw(cell[1], cell[2], cell[3], cell[4:5]); mean(d$y[d$side == 0]) - mean(d$y[d$side == 1]) })
  cat(sprintf("T %d, C %d, context SD %.1f, %.2f -> %.2f: held %d of %d (%d without limits), median half-width over oracle %.2f, %.1f s a table\n",
    cell[1], cell[2], cell[3], cell[4], cell[5], sum(kept[, 1] <= truth & truth <= kept[, 2]), nrow(kept), tables - nrow(kept),
    median(kept[, 2] - kept[, 1]) / 2 / (1.96 * sd(wide)), seconds))
}
