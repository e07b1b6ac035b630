"""Checks of labels: do the people agree, did they pay attention, do their second ratings fit?"""
